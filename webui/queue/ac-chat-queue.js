import {LitElement, css, html, nothing} from 'lit';
import {repeat} from 'lit/directives/repeat.js';
import {Localized, formatNumber, t} from '../base/i18n.js';
import {isComposing} from '../base/input-method.js';
import {growing} from '../ui/growing-textarea.js';
import {badges, base, buttons, fields} from '../ui/styles.js';
import '../ui/ac-icon.js';

/** @typedef {import('./queue.js').QueuedMessage} QueuedMessage */

const NAMED_CHARS = 60;

/**
 * The messages that the user sent while something was running: each waits for its turn and can be changed until then.
 * @fires ac-steer {messageId: string}  it is to be sent at once
 * @fires ac-change {messageId: string, text: string}
 * @fires ac-remove {messageId: string}
 * @fires ac-resume
 */
export class AcChatQueue extends Localized(LitElement) {
  static properties = {
    messages: {attribute: false},
    isPaused: {type: Boolean, attribute: 'paused'},
    _editing: {state: true},
  };

  static styles = [base, badges, buttons, fields, css`
    section { border: 1px solid var(--ac-border); border-radius: var(--ac-radius-l); background: var(--ac-surface); font-size: var(--ac-text-s); }
    section.paused { border-color: color-mix(in srgb, var(--ac-warn) 45%, var(--ac-border)); }
    header { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-1) var(--ac-space-2); min-height: 2.25rem; padding: var(--ac-space-1) var(--ac-space-2) var(--ac-space-1) var(--ac-space-3); color: var(--ac-text-muted); }
    header p { flex: 1 1 10rem; }
    .paused header { color: var(--ac-warn); }
    ol { position: relative; max-height: min(14rem, 30vh); overflow: auto; }
    li { display: flex; align-items: center; gap: var(--ac-space-1) var(--ac-space-2); padding: var(--ac-space-1) var(--ac-space-2) var(--ac-space-1) var(--ac-space-3); border-top: 1px solid var(--ac-border); }
    .position { position: relative; flex: none; min-width: 1.25rem; text-align: center; color: var(--ac-text-muted); font-variant-numeric: tabular-nums; }
    .what { flex: 1; min-width: 0; display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-1) var(--ac-space-2); }
    .text { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; overflow-wrap: anywhere; }
    .sending .text { opacity: 0.65; }
    .actions { display: flex; flex: none; }
    .actions button { color: var(--ac-text-muted); }
    form { display: grid; gap: var(--ac-space-2); width: 100%; padding-block: var(--ac-space-1); }
    textarea { width: 100%; min-height: 2.5rem; max-height: 30vh; field-sizing: content; resize: none; }
    .row { display: flex; justify-content: flex-end; gap: var(--ac-space-2); }
    @media (max-height: 30rem) { header { min-height: 1.75rem; padding-block: 0; } ol { max-height: 4.5rem; } }
    @media (pointer: coarse) { .actions button { min-width: 2.5rem; min-height: 2.5rem; } }
  `];

  constructor() {
    super();
    /** @type {readonly QueuedMessage[]} */
    this.messages = [];
    this.isPaused = false;
    /** The id of the message that is being edited; empty: none. */
    this._editing = '';
  }

  render() {
    if (!this.messages.length) return nothing;
    const n = this.messages.length;
    return html`
      <section class=${this.isPaused ? 'paused' : ''} aria-label=${t('queue.title')}>
        <header>
          <ac-icon name=${this.isPaused ? 'pause' : 'clock'}></ac-icon>
          <p role="status">${t(this.isPaused ? 'queue.paused' : 'queue.waiting', {n})}</p>
          ${this.isPaused ? html`<button class="small" title=${t('queue.resumeHint')} @click=${() => this._fire('ac-resume')}><ac-icon name="play"></ac-icon>${t('queue.resume')}</button>` : nothing}
        </header>
        <ol>${repeat(this.messages, ({messageId}) => messageId, (message, at) => this._renderMessage(message, at + 1))}</ol>
      </section>`;
  }

  /** @param {QueuedMessage} message @param {number} position  in the order in which they are sent, from 1 */
  _renderMessage(message, position) {
    const {messageId, text, when, isSending, attachments = []} = message;
    if (messageId === this._editing) return html`<li>${this._renderForm(message)}</li>`;
    const name = text.length > NAMED_CHARS ? `${text.slice(0, NAMED_CHARS)}…` : text;
    const button = (/** @type {string} */ icon, /** @type {string} */ label, /** @type {() => void} */ act) => html`
      <button class="quiet small icon ${icon}" aria-label=${t(`${label}Named`, {text: name})} title=${t(label)} ?disabled=${isSending} @click=${act}><ac-icon name=${icon}></ac-icon></button>`;
    return html`
      <li class=${isSending ? 'sending' : ''} data-id=${messageId}>
        <span class="position" title=${t('queue.position', {n: position, all: this.messages.length})}><span aria-hidden="true">${formatNumber(position)}</span><span class="visually-hidden">${t('queue.position', {n: position, all: this.messages.length})}</span></span>
        <div class="what">
          ${text ? html`<span class="text">${text}</span>` : nothing}
          ${attachments.length ? html`<span class="badge">${t('queue.files', {n: attachments.length})}</span>` : nothing}
          ${when === 'steer' ? html`<span class="badge accent">${t('queue.steering')}</span>` : nothing}
        </div>
        <span class="actions">
          ${when === 'steer' ? nothing : button('zap', 'queue.now', () => this._fire('ac-steer', {messageId}))}
          ${button('pencil', 'queue.edit', () => void this._begin(messageId))}
          ${button('x', 'queue.remove', () => void this._remove(messageId))}
        </span>
      </li>`;
  }

  /** @param {QueuedMessage} message */
  _renderForm({messageId, text}) {
    return html`
      <form @submit=${(/** @type {Event} */ event) => this._save(event, messageId)}>
        <textarea ${growing()} aria-label=${t('queue.edit')} .value=${text} @keydown=${(/** @type {KeyboardEvent} */ event) => this._onKey(event, messageId)}></textarea>
        <div class="row"><button type="button" class="small" @click=${() => this._end(messageId)}>${t('ui.cancel')}</button><button class="small primary">${t('queue.save')}</button></div>
      </form>`;
  }

  /** @param {string} messageId */
  async _begin(messageId) {
    this._editing = messageId;
    await this.updateComplete;
    const area = this._area;
    area?.focus();
    area?.setSelectionRange(area.value.length, area.value.length);
  }

  /** @param {string} messageId */
  async _end(messageId) {
    this._editing = '';
    await this.updateComplete;
    this._focus(`[data-id="${messageId}"] .pencil`);
  }

  /** @param {string} messageId */
  async _remove(messageId) {
    const next = this.messages[this.messages.findIndex((message) => message.messageId === messageId) + 1] ?? this.messages[0];
    this._focus(`[data-id="${next.messageId}"] .x`);
    this._fire('ac-remove', {messageId});
  }

  /** @param {string} selector */
  _focus(selector) {
    /** @type {HTMLElement | null} */ (this.renderRoot.querySelector(selector))?.focus();
  }

  /** @returns {HTMLTextAreaElement | null} */
  get _area() {
    return this.renderRoot.querySelector('textarea');
  }

  /** @param {KeyboardEvent} event @param {string} messageId */
  _onKey(event, messageId) {
    if (isComposing(event)) return; // Enter and Escape belong to the input method
    if (event.key === 'Escape') {
      event.preventDefault(); // cancels the edit, not the answer
      void this._end(messageId);
    } else if (event.key === 'Enter' && !event.shiftKey) this._save(event, messageId);
  }

  /** @param {Event} event @param {string} messageId */
  _save(event, messageId) {
    event.preventDefault();
    const text = this._area?.value.trim();
    if (!text) return;
    this._fire('ac-change', {messageId, text});
    void this._end(messageId);
  }

  /** @param {string} name @param {Record<string, string>} [detail] */
  _fire(name, detail) {
    this.dispatchEvent(new CustomEvent(name, {detail}));
  }
}
customElements.define('ac-chat-queue', AcChatQueue);
