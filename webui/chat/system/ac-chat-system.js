import {LitElement, css, html, nothing} from 'lit';
import {live} from 'lit/directives/live.js';
import {client} from '../../client/client.js';
import {Localized, formatBytes, t} from '../../base/i18n.js';
import {badges, base, buttons, code, fields} from '../../ui/styles.js';
import {toastError} from '../../ui/toasts.js';
import '../../ui/ac-error-card.js';

/**
 * @typedef {{id: string, source: string, text: string, chars: number, isTold: boolean, isOwnChoice: boolean, canLeaveOut: boolean, lasts: boolean, missingBytes: number}} Part
 * @typedef {{parts: Part[], chars: number, tools: {given: number, hidden: number, chars: number}, agentId: string, agentInstructions: string, instructions?: string}} System
 * @typedef {{inputTokens: number, outputTokens: number, requests: number, cachedTokens: number}} Usage
 */

/**
 * The system prompt of a chat: each part with its source and size, and a checkbox to include it.
 *
 * @fires ac-changing - a change is sent to the server; `detail.done` settles with its answer
 */
export class AcChatSystem extends Localized(LitElement) {
  static properties = {
    sessionId: {},
    choices: {attribute: false},
    begin: {attribute: false},
    _system: {state: true},
    _usage: {state: true},
    _error: {state: true},
    _draft: {state: true},
    _isBusy: {state: true},
    _status: {state: true},
  };

  static styles = [base, badges, buttons, code, fields, css`
    :host { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-4); color: var(--ac-text); }
    .sums { display: grid; gap: var(--ac-space-1); }
    .parts { display: grid; grid-template-columns: minmax(0, 1fr); border: 1px solid var(--ac-border); border-radius: var(--ac-radius-m); background: var(--ac-surface); }
    .parts > li { display: grid; grid-template-columns: 1.5rem minmax(0, 1fr) auto; align-items: baseline; gap: 0 var(--ac-space-2); padding: var(--ac-space-3); }
    .parts > li + li { border-top: 1px solid var(--ac-border); }
    input[type="checkbox"] { align-self: center; }
    .name { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-1) var(--ac-space-2); overflow-wrap: anywhere; }
    .off .name label { color: var(--ac-text-muted); text-decoration: line-through; }
    .size { color: var(--ac-text-muted); font-size: var(--ac-text-s); white-space: nowrap; font-variant-numeric: tabular-nums; }
    .more { grid-column: 2 / -1; min-width: 0; }
    details { margin-top: var(--ac-space-1); }
    summary { width: max-content; max-width: 100%; cursor: pointer; color: var(--ac-accent); font-size: var(--ac-text-s); border-radius: var(--ac-radius-s); }
    pre.code { margin-top: var(--ac-space-2); max-height: 20rem; }
    form { display: grid; gap: var(--ac-space-2); margin-top: var(--ac-space-2); }
    textarea { width: 100%; min-height: 5rem; }
    .row { display: flex; flex-wrap: wrap; gap: var(--ac-space-2); align-items: center; }
  `];

  constructor() {
    super();
    /** `''`: a new chat. */
    this.sessionId = '';
    /** The agent and the model that a new chat would use. @type {{agentId?: string, model?: string}} */
    this.choices = {};
    /** Creates the chat at the first change and returns its id. @type {() => Promise<string>} */
    this.begin = async () => '';
    /** @type {System | null} */
    this._system = null;
    /** @type {Usage | null} */
    this._usage = null;
    /** @type {import('../../client/client.js').ApiError | null} */
    this._error = null;
    /** Instructions that are not saved yet; null: none. @type {string | null} */
    this._draft = null;
    this._isBusy = false;
    this._status = '';
  }

  firstUpdated() {
    void this._load();
  }

  render() {
    if (this._error) return html`<ac-error-card heading=${t('chat.told.loadFailed')} .error=${this._error}><button slot="actions" @click=${this._load}>${t('ui.again')}</button></ac-error-card>`;
    if (!this._system) return html`<div aria-busy="true"></div>`;
    const {parts, chars, tools} = this._system;
    const shown = parts.some(({id}) => id === 'agent') ? parts : withAgent(parts);
    return html`
      <p class="muted">${t('chat.told.intro')}</p>
      <div class="sums small">
        <p>${t(tools.chars ? 'chat.told.sum' : 'chat.told.sumText', {chars, tools: tools.given, toolChars: tools.chars})} ${tools.hidden ? t('chat.told.hidden', {n: tools.hidden}) : nothing}</p>
        ${this._usage?.requests ? html`<p>${t('chat.told.used', {sent: this._usage.inputTokens, cached: this._usage.cachedTokens, came: this._usage.outputTokens, n: this._usage.requests})}</p>` : nothing}
      </div>
      <ol class="parts">${shown.map((part) => this._renderPart(part))}</ol>`;
  }

  /** @param {Part} part */
  _renderPart(part) {
    const kind = part.id.split(':', 1)[0];
    const name = part.id.includes(':') ? part.source : t(`chat.told.part.${kind}`, {agent: this._system?.agentId ?? ''});
    const inputId = part.id.replace(/\W/g, '-');
    return html`
      <li class=${part.isTold ? '' : 'off'}>
        <input type="checkbox" id=${inputId} aria-label=${t('chat.told.tell', {name})} .checked=${live(part.isTold)} ?disabled=${!part.canLeaveOut || this._isBusy}
          @change=${(/** @type {Event} */ event) => this._tell(part, /** @type {HTMLInputElement} */ (event.target).checked)}>
        <span class="name"><label for=${inputId}>${name}</label>
          ${kind === 'module' || kind === 'skill' || kind === 'start' ? html`<span class="badge">${t(`chat.told.${kind}`)}</span>` : nothing}
          ${part.isTold ? nothing : html`<span class="badge">${t('chat.told.leftOut')}</span>`}
          ${part.missingBytes ? html`<span class="badge warn">${t('chat.told.cut', {bytes: formatBytes(part.missingBytes)})}</span>` : nothing}
          ${part.lasts ? nothing : html`<span class="badge">${t('chat.told.passing')}</span>`}
        </span>
        <span class="size">${t('chat.told.chars', {n: part.chars})}</span>
        <div class="more">
          ${kind === 'module' ? nothing : html`<p class="hint">${t(`chat.told.text.${kind}`, {name})}</p>`}
          ${kind === 'agent' ? this._renderInstructions() : html`<details><summary aria-label="${t('chat.told.show')}: ${name}">${t('chat.told.show')}</summary><pre class="code wrap" tabindex="0">${part.text}</pre></details>`}
        </div>
      </li>`;
  }

  _renderInstructions() {
    const {agentId, agentInstructions, instructions} = /** @type {System} */ (this._system);
    const saved = instructions ?? agentInstructions;
    const written = this._draft ?? saved;
    return html`
      <form @submit=${this._save}>
        <textarea aria-label=${t('chat.told.own')} aria-describedby="own-hint" maxlength="50000" placeholder=${t('chat.told.ownPlaceholder')} .value=${written}
          @input=${(/** @type {Event} */ event) => { this._draft = /** @type {HTMLTextAreaElement} */ (event.target).value; this._status = ''; }}></textarea>
        <span class="hint" id="own-hint">${t(instructions === undefined ? 'chat.told.agentHint' : 'chat.told.ownHint', {agent: agentId})}</span>
        <div class="row">
          <button class="small" ?disabled=${this._isBusy || written === saved}>${t('chat.told.save')}</button>
          ${instructions === undefined ? nothing : html`<button type="button" class="small quiet" ?disabled=${this._isBusy} @click=${() => this._change({instructions: null})}>${t('chat.told.agents')}</button>`}
          <span role="status" class="hint">${this._status}</span>
        </div>
      </form>`;
  }

  async _load() {
    this._error = null;
    try {
      if (!this.sessionId) {
        const {agentId = '', model = ''} = this.choices;
        this._system = await client.get(`/api/chat/system?${new URLSearchParams({...(agentId && {agentId}), ...(model && {model})})}`);
        return;
      }
      const [system, session] = await Promise.all([client.get(this._path('/system')), client.get(this._path(''))]);
      this._system = system;
      this._usage = session.usage;
    } catch (error) {
      this._error = /** @type {import('../../client/client.js').ApiError} */ (error);
    }
  }

  /** Include or omit a part; the checkbox shows the choice until the server responds. @param {Part} part @param {boolean} isTold */
  _tell(part, isTold) {
    const system = /** @type {System} */ (this._system);
    this._system = {...system, parts: system.parts.map((one) => (one.id === part.id ? {...one, isTold} : one))};
    void this._change({told: {[part.id]: isTold}});
  }

  /** @param {SubmitEvent} event */
  _save(event) {
    event.preventDefault();
    void this._change({instructions: this._draft ?? ''});
  }

  /** @param {{told?: Record<string, boolean>, instructions?: string | null}} change */
  async _change(change) {
    this._isBusy = true;
    this._status = '';
    const done = this._send(change);
    this.dispatchEvent(new CustomEvent('ac-changing', {detail: {done}}));
    try {
      this._system = await done;
      if ('instructions' in change) {
        this._draft = null;
        this._status = t('chat.told.saved');
      }
    } catch (error) {
      toastError(t('chat.told.changeFailed'), error);
      await this._load();
    }
    this._isBusy = false;
  }

  /** @param {{told?: Record<string, boolean>, instructions?: string | null}} change @returns {Promise<System>} */
  async _send(change) {
    this.sessionId ||= await this.begin();
    return client.patch(this._path('/system'), change);
  }

  /** @param {string} rest */
  _path(rest) {
    return `/api/sessions/${encodeURIComponent(this.sessionId)}${rest}`;
  }
}
customElements.define('ac-chat-system', AcChatSystem);

/** Return the parts with an empty one for the agent's instructions, before the date. @param {Part[]} parts */
function withAgent(parts) {
  const empty = {id: 'agent', source: '', text: '', chars: 0, isTold: true, isOwnChoice: false, canLeaveOut: false, lasts: true, missingBytes: 0};
  const at = parts.findIndex(({id, lasts}) => !lasts || id === 'tools');
  return at < 0 ? [...parts, empty] : [...parts.slice(0, at), empty, ...parts.slice(at)];
}
