import {LitElement, css, html, nothing} from 'lit';
import {abilities} from '../../client/abilities.js';
import {isPrompt} from './prompts.js';
import {completionsOf, isCommand, isNameBegun, mayBeCommand, parseCommand, usesSkill} from './slash-commands.js';
import {mentionIn, mentionsOf} from './mentions.js';
import {valuesOf} from './argument-completion.js';
import {Localized, t} from '../../base/i18n.js';
import {isComposing} from '../../base/input-method.js';
import {growing} from '../../ui/growing-textarea.js';
import {base, buttons} from '../../ui/styles.js';
import {skillList} from '../../client/skill-list.js';
import {toolList} from '../../client/tool-list.js';
import '../../ui/ac-icon.js';
import '../attachments/ac-attachments.js';

/**
 * The message box: for a message or, with a leading slash, a tool call.
 * @slot choices  Beside the button: model, agent, approval mode.
 * @fires ac-send {text: string, when: 'queue' | 'steer'}  with the attachments; `when` applies while something is running
 * @fires ac-command {tool: string, args: object, text: string}
 * @fires ac-draft {text: string}
 * @fires ac-stop
 * @fires ac-reply {text: string}  the answer to the open question
 */
export class AcChatComposer extends Localized(LitElement) {
  static properties = {
    text: {attribute: false},
    agentId: {attribute: false},
    history: {attribute: false},
    isBusy: {type: Boolean, attribute: 'busy'},
    isStopping: {type: Boolean, attribute: 'stopping'},
    isSending: {type: Boolean, attribute: 'sending'},
    isAsked: {type: Boolean, attribute: 'asked'},
    mayChat: {attribute: false},
    attachments: {attribute: false},
    _completions: {state: true},
    _at: {state: true},
    _problem: {state: true},
    _sendsLater: {state: true},
  };

  static styles = [base, buttons, css`
    :host { position: relative; }
    .box { border: 1px solid var(--ac-border-strong); border-radius: var(--ac-radius-l); background: var(--ac-surface); box-shadow: var(--ac-shadow-s); transition: border-color var(--ac-motion); }
    .box:focus-within { border-color: var(--ac-focus); box-shadow: 0 0 0 1px var(--ac-focus); }
    textarea { display: block; width: 100%; min-height: 2.75rem; max-height: min(40vh, 20rem); padding: var(--ac-space-3) var(--ac-space-4) var(--ac-space-1); margin: 0; border: 0; outline: none; background: none; color: inherit; font: inherit; line-height: var(--ac-line); resize: none; overflow-y: auto; field-sizing: content; }
    textarea:focus-visible { outline: none; } /* the box shows the focus */
    textarea.call { font-family: var(--ac-font-mono); }
    textarea::placeholder { color: var(--ac-text-muted); opacity: 1; }
    .row { display: flex; align-items: center; gap: var(--ac-space-2); padding: var(--ac-space-1) var(--ac-space-2) var(--ac-space-2); }
    .attach { color: var(--ac-text-muted); }
    .choices { flex: 1; display: flex; flex-wrap: wrap; min-width: 0; }
    @media (max-width: 30rem) { .choices { flex-wrap: nowrap; align-items: center; } }
    @media (max-height: 30rem) { textarea { min-height: 2.25rem; padding-block: var(--ac-space-2) 0; } .row { padding-block: 0 2px; } }
    .send { border-radius: 999px; }
    .send ac-icon { width: 1.25em; height: 1.25em; }
    .problem { color: var(--ac-danger); }
    .note { padding: 0 var(--ac-space-4) var(--ac-space-1); font-size: var(--ac-text-s); overflow-wrap: anywhere; }
    ul { position: absolute; inset: auto 0 100%; z-index: 2; margin-bottom: var(--ac-space-1); padding: var(--ac-space-1); max-height: min(20rem, 45vh); overflow: auto; border: 1px solid var(--ac-border); border-radius: var(--ac-radius-l); background: var(--ac-surface-raised); box-shadow: var(--ac-shadow-m); }
    li { display: flex; align-items: baseline; gap: var(--ac-space-3); padding: var(--ac-space-1) var(--ac-space-2); border-radius: var(--ac-radius-m); cursor: pointer; }
    li[aria-selected="true"] { background: var(--ac-hover); }
    li code { flex: none; max-width: 100%; overflow-wrap: anywhere; font-weight: var(--ac-weight-medium); }
    li span { min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; color: var(--ac-text-muted); font-size: var(--ac-text-s); }
  `];

  constructor() {
    super();
    this.text = '';
    /** The agent that the message is for; empty: the default one. */
    this.agentId = '';
    /** The user's earlier messages, the newest last. @type {() => string[]} */
    this.history = () => [];
    this.isBusy = false;
    this.isStopping = false;
    this.isSending = false;
    /** True while a tool waits for an answer: the text is sent as that answer. */
    this.isAsked = false;
    /** True if a model is available for messages; tool calls need none. */
    this.mayChat = true;
    /** @type {import('./slash-commands.js').Completion[]} */
    this._completions = [];
    this._at = -1;
    this._problem = '';
    /** How to send the message that waits for the upload of its files; null: none waits. @type {'queue' | 'steer' | null} */
    this._sendsLater = null;
    /** The attachments of the next message. @type {import('../attachments/attachments.js').Attachments | null} */
    this.attachments = null;
    this._endAttachments = () => {};
    this._asking = new AbortController();
    /** The number of steps back in the history; 0: not in it. */
    this._back = 0;
    this._kept = '';
  }

  render() {
    const isCall = mayBeCommand(this.text, toolList.tools) && !usesSkill(this.text, toolList.tools, this._skills);
    const isOpen = this._completions.length > 0;
    return html`
      ${isOpen ? this._renderCompletions() : nothing}
      <div class="box">
        <ac-attachments .attachments=${this.attachments} .items=${this.attachments?.items ?? []} .problem=${this.attachments?.problem} @ac-emptied=${this.focus}></ac-attachments>
        <textarea class=${isCall ? 'call' : ''} rows="1" dir="auto" aria-label=${t('chat.write')} placeholder=${t(this._placeholder)} .value=${this.text}
          aria-autocomplete="list" aria-haspopup="listbox" aria-controls=${isOpen ? 'completions' : nothing} aria-activedescendant=${isOpen && this._at >= 0 ? `c${this._at}` : nothing}
          aria-invalid=${this._problem ? 'true' : nothing} aria-describedby="note" enterkeyhint="send" @input=${this._onInput} @keydown=${this._onKey} @blur=${this._closeCompletions} @paste=${this._onPaste} ${growing()}></textarea>
        <p class="note ${this._problem ? 'problem' : ''}" id="note" role="status" ?hidden=${!this._note}>${this._note}</p>
        <div class="row">
          <button class="quiet icon attach" aria-label=${t('chat.attach.add')} title=${t('chat.attach.addHint')} @click=${() => this._picker.click()}><ac-icon name="paperclip"></ac-icon></button>
          <input type="file" multiple hidden @change=${this._onPick}>
          <div class="choices"><slot name="choices"></slot></div>${this._renderStop()}${this._renderButton(isCall)}</div>
      </div>`;
  }

  /** The skills that the agent's model gets. */
  get _skills() {
    return skillList.skills.filter(({isUsable, agents}) => isUsable && agents.includes(this.agentId || 'default'));
  }

  get _placeholder() {
    if (this.isAsked) return 'questions.yourAnswer';
    if (!abilities.commands) return 'chat.write';
    return this.mayChat ? 'chat.placeholder' : 'chat.placeholderTools';
  }

  get _note() {
    return this._problem || (this._sendsLater ? t('chat.attach.wait') : '');
  }

  _renderStop() {
    if (!this.isBusy) return nothing;
    return html`<button class="icon send" aria-label=${t('chat.stop')} title=${t('chat.stopHint')} ?disabled=${this.isStopping} @click=${() => this._fire('ac-stop')}><ac-icon name="square"></ac-icon></button>`;
  }

  /** @param {boolean} isCall */
  _renderButton(isCall) {
    const isAnswer = this.isAsked && !isCall && Boolean(this.text.trim());
    if (isAnswer) return html`<button class="primary icon send" aria-label=${t('questions.answer')} title=${t('questions.answer')} @click=${() => this._send()}><ac-icon name="arrow-up"></ac-icon></button>`;
    const isEmpty = !this.text.trim() && !this.attachments?.items.length;
    if (this.isBusy && isEmpty) return nothing;
    const name = /^\/([\w-]+)/.exec(this.text)?.[1] ?? '';
    const takes = isCall && isPrompt(toolList.find(name));
    const label = takes ? 'chat.takePrompt' : isCall ? 'tools.run' : this.isBusy ? 'queue.send' : 'chat.send';
    const isOff = isEmpty || this.isSending || (!isCall && !this.mayChat);
    return html`<button class="primary icon send" aria-label=${t(label)} title=${t(label)} ?disabled=${isOff} @click=${() => this._send()}><ac-icon name=${takes ? 'corner-down-left' : isCall ? 'play' : 'arrow-up'}></ac-icon></button>`;
  }

  _renderCompletions() {
    return html`
      <ul id="completions" role="listbox" aria-label=${t('chat.completions')} @mousedown=${(/** @type {Event} */ event) => event.preventDefault()}>
        ${this._completions.map(({label, detail, isRequired, isPrompt: isForPerson, isSkill}, at) => html`
          <li id="c${at}" role="option" aria-selected=${at === this._at} @click=${() => this._complete(at)}><code>${label}${isRequired ? html`<span aria-hidden="true"> *</span>` : nothing}</code><span>${isForPerson ? html`<em>${t('chat.prompt')}</em> ` : isSkill ? html`<em>${t('chat.skill')}</em> ` : nothing}${detail}</span></li>`)}
      </ul>`;
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (!changed.has('attachments')) return;
    this._endAttachments();
    this._sendsLater = null; // the chat changed
    this._endAttachments = this.attachments?.subscribe(() => this._onAttachments()) ?? (() => {});
  }

  connectedCallback() {
    super.connectedCallback();
    if (this.hasUpdated) this.requestUpdate('attachments');
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this._endAttachments();
  }

  updated() {
    this.renderRoot.querySelector('[aria-selected="true"]')?.scrollIntoView({block: 'nearest'});
  }

  focus() {
    this._area.focus();
  }

  /** Set the text, for the user to continue, and focus the box. @param {string} text */
  write(text) {
    this._set(text);
    this.focus();
  }

  get _area() {
    return /** @type {HTMLTextAreaElement} */ (this.renderRoot.querySelector('textarea'));
  }

  get _picker() {
    return /** @type {HTMLInputElement} */ (this.renderRoot.querySelector('input[type=file]'));
  }

  /** Attach pasted files; what office programs copy as text and also as an image is pasted as text. @param {ClipboardEvent} event */
  _onPaste(event) {
    const {files, types} = /** @type {DataTransfer} */ (event.clipboardData);
    if (!files.length || (types.includes('text/plain') && types.includes('text/html'))) return;
    event.preventDefault();
    this.attachments?.add(files);
  }

  _onAttachments() {
    this.requestUpdate();
    const when = this._sendsLater;
    if (when === null || this.attachments?.isSending) return;
    this._sendsLater = null;
    this._send(when);
  }

  _onPick() {
    this.attachments?.add([.../** @type {FileList} */ (this._picker.files)]);
    this._picker.value = ''; // so that the same file can be picked again
    this.focus();
  }

  /** @param {string} text */
  _set(text) {
    this.text = text;
    this._onChanged();
    this._fire('ac-draft', {text});
    void this.updateComplete.then(() => this._area.setSelectionRange(text.length, text.length));
  }

  /** Clear the error of the previous text, and do not send the message after the upload. */
  _onChanged() {
    this._problem = '';
    this._sendsLater = null;
  }

  _onInput() {
    const {value, selectionStart} = this._area;
    this.text = value;
    this._onChanged();
    this._back = 0;
    this._fire('ac-draft', {text: value});
    this._offer(value.slice(0, selectionStart));
  }

  /** @param {string} before */
  _offer(before) {
    this._asking.abort();
    this._asking = new AbortController();
    const {signal} = this._asking;
    const isCall = mayBeCommand(before, toolList.tools);
    this._show(isCall ? completionsOf(before, toolList.tools, this._skills) : []);
    if (isNameBegun(before) && (before === '/' || !skillList.isLoaded)) void this._offerFound(skillList.load().then(() => completionsOf(before, toolList.tools, this._skills)), signal);
    if (isCall) void this._offerFound(valuesOf(before, toolList.tools, signal), signal);
    else if (mentionIn(before) !== null) void this._offerFound(mentionsOf(before, signal), signal);
  }

  /** Show the completions that the server finds. @param {Promise<import('./slash-commands.js').Completion[]> | null} finding @param {AbortSignal} signal */
  async _offerFound(finding, signal) {
    if (!finding) return;
    const found = await finding;
    if (!signal.aborted) this._show(found);
  }

  /** @param {import('./slash-commands.js').Completion[]} completions */
  _show(completions) {
    this._completions = completions;
    this._at = completions.length ? 0 : -1;
  }

  _closeCompletions() {
    this._asking.abort();
    this._show([]);
  }

  /** @param {KeyboardEvent} event */
  _onKey(event) {
    if (isComposing(event)) return; // the key belongs to the input method
    const handled = (this._completions.length && this._onCompletionKey(event)) || this._onHistoryKey(event) || this._onSendKey(event);
    if (handled) event.preventDefault();
  }

  /** @param {KeyboardEvent} event @returns {boolean} */
  _onCompletionKey({key, shiftKey}) {
    const count = this._completions.length;
    if (key === 'ArrowDown' || key === 'ArrowUp') this._at = (this._at + (key === 'ArrowDown' ? 1 : count - 1)) % count;
    else if (key === 'Escape') this._closeCompletions();
    else if (key === 'Tab' && !shiftKey) this._complete(this._at);
    else if (key === 'Enter' && !shiftKey && this._isNameBegun()) this._complete(this._at);
    else return false;
    return true;
  }

  /** True if Enter completes the partial tool name or mention before the cursor; otherwise it sends or runs the text. */
  _isNameBegun() {
    const before = this._area.value.slice(0, this._area.selectionStart);
    if (mentionIn(before) !== null) return true;
    return !/\s/.test(before) && before !== `/${this._completions[this._at]?.label}`;
  }

  /** Browse the history: ArrowUp at the start of the text goes back, ArrowDown at its end forward. @param {KeyboardEvent} event @returns {boolean} */
  _onHistoryKey({key}) {
    const {selectionStart, selectionEnd, value} = this._area;
    const isBack = key === 'ArrowUp' && selectionStart === 0 && selectionEnd === 0;
    const isForth = key === 'ArrowDown' && this._back > 0 && selectionStart === value.length;
    const back = this._back + (isBack ? 1 : isForth ? -1 : 0);
    if (back === this._back) return false;
    const said = this.history();
    if (back > said.length) return false;
    if (this._back === 0) this._kept = value;
    this._back = back;
    const text = back === 0 ? this._kept : said[said.length - back];
    this._set(text);
    if (isBack) void this.updateComplete.then(() => this._area.setSelectionRange(0, 0));
    return true;
  }

  /** @param {KeyboardEvent} event @returns {boolean} */
  _onSendKey({key, shiftKey, altKey, ctrlKey, metaKey}) {
    if (key !== 'Enter' || shiftKey || altKey) return false;
    this._send(ctrlKey || metaKey ? 'steer' : 'queue');
    return true;
  }

  /** @param {number} at */
  _complete(at) {
    const {insert, from} = this._completions[at];
    const {value, selectionStart} = this._area;
    this.text = value.slice(0, from) + insert + value.slice(selectionStart);
    const cursor = from + insert.length;
    this._fire('ac-draft', {text: this.text});
    this._offer(this.text.slice(0, cursor));
    void this.updateComplete.then(() => this._area.setSelectionRange(cursor, cursor));
  }

  /** @param {'queue' | 'steer'} [when]  while something is running: after it, or with its next step */
  _send(when = 'queue') {
    const text = this.text.trim();
    if ((!text && !this.attachments?.items.length) || this.isSending) return;
    this._closeCompletions();
    this._back = 0;
    if (isCommand(text, toolList.tools) || (!this.mayChat && text.startsWith('/'))) return this._sendCommand(text);
    if (this.isAsked && text) return this._fire('ac-reply', {text});
    if (this.attachments?.hasFailed) {
      this._problem = t('chat.attach.fix');
      return;
    }
    if (this.attachments?.isSending) {
      this._sendsLater = when;
      return;
    }
    if (this.mayChat) this._fire('ac-send', {text, when});
  }

  /** @param {string} text */
  _sendCommand(text) {
    const read = parseCommand(text, toolList.tools);
    if ('problem' in read) this._problem = t(read.problem, read.values);
    else this._fire(isPrompt(toolList.find(read.command.tool)) ? 'ac-take-prompt' : 'ac-command', {...read.command, text});
  }

  /** @param {string} name @param {Record<string, unknown>} [detail] */
  _fire(name, detail) {
    this.dispatchEvent(new CustomEvent(name, {detail}));
  }
}
customElements.define('ac-chat-composer', AcChatComposer);
