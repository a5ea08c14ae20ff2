import {LitElement, css, html, nothing} from 'lit';
import {asCli, asCurl, asJson} from './commands.js';
import {Localized, formatDuration, t} from '../base/i18n.js';
import {isComposing} from '../base/input-method.js';
import {Listening} from '../base/subscriptions.js';
import {hostList} from '../client/host-list.js';
import {base, buttons, cards, fields} from '../ui/styles.js';
import '../ui/ac-copy.js';
import '../ui/ac-icon.js';
import '../form/ac-schema-form.js';

/** @typedef {import('./drafts.js').Draft} Draft */

const IS_MAC = /Mac|iPhone|iPad/.test(navigator.userAgent);
const SESSION = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Form for a tool call: arguments, session, time limit and host, with buttons to run or copy the call.
 * @fires ac-draft {draft: Draft}   Fired after each change.
 * @fires ac-run {draft: Draft}
 * @fires ac-reset
 */
export class AcToolForm extends Localized(LitElement) {
  static properties = {
    tool: {attribute: false},
    draft: {attribute: false},
    errors: {attribute: false},
    isRunning: {type: Boolean, attribute: 'running'},
    _isRefused: {state: true},
  };

  static styles = [base, buttons, cards, fields, css`
    .card { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-4); padding: var(--ac-space-4); }
    h2 { font-size: var(--ac-text-m); }
    details { border-top: 1px solid var(--ac-border); padding-top: var(--ac-space-3); }
    summary { cursor: pointer; width: fit-content; color: var(--ac-text-muted); font-size: var(--ac-text-s); border-radius: var(--ac-radius-s); }
    summary:hover { color: var(--ac-text); }
    .options { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 15rem), 1fr)); gap: var(--ac-space-4); margin-top: var(--ac-space-3); }
    .options > div { display: grid; gap: var(--ac-space-1); align-content: start; }
    .options label { font-size: var(--ac-text-s); }
    .bar { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-2); padding: var(--ac-space-3) var(--ac-space-4); margin: 0 calc(-1 * var(--ac-space-4)) calc(-1 * var(--ac-space-4)); border-top: 1px solid var(--ac-border); background: var(--ac-surface); border-radius: 0 0 var(--ac-radius-l) var(--ac-radius-l); position: sticky; bottom: 0; }
    .bar kbd { font-size: var(--ac-text-xs); opacity: 0.85; }
    .copies { display: flex; flex-wrap: wrap; align-items: center; gap: 0 var(--ac-space-1); margin-inline-start: auto; color: var(--ac-text-muted); font-size: var(--ac-text-s); }
    @media (hover: none) { .bar kbd { display: none; } }
  `];

  constructor() {
    super();
    /** @type {import('../client/tool-list.js').Tool | null} */
    this.tool = null;
    /** @type {Draft} */
    this.draft = {args: {}};
    /** @type {{path?: string, message: string}[]} */
    this.errors = [];
    this.isRunning = false;
    this._isRefused = false;
    new Listening(this, () => {
      void hostList.begin();
      return [hostList.subscribe(() => this.requestUpdate())];
    });
  }

  /** Focus the first invalid argument. */
  showErrors() {
    this._form?.showErrors();
  }

  focus() {
    this._form?.focus();
  }

  get _form() {
    return /** @type {import('../form/ac-schema-form.js').AcSchemaForm | null} */ (this.renderRoot.querySelector('ac-schema-form'));
  }

  render() {
    if (!this.tool) return nothing;
    return html`
      <div class="card" @keydown=${this._onKey}>
        <ac-schema-form .schema=${this.tool.input_schema} .value=${this.draft.args} .errors=${this.errors}
          @ac-change=${this._onArguments}><h2 slot="heading">${t('tools.arguments')}</h2></ac-schema-form>
        ${this._renderOptions(this.tool)}
        <div class="bar">
          <button class="primary" ?disabled=${this.isRunning} aria-keyshortcuts="Control+Enter" @click=${this._run}>
            <ac-icon name=${this.isRunning ? 'loader-circle' : 'play'}></ac-icon>${t(this.isRunning ? 'tools.running' : 'tools.run')}${this.isRunning ? nothing : html` <kbd aria-hidden="true">${IS_MAC ? '⌘' : 'Ctrl'} ↵</kbd>`}
          </button>
          ${this._isRefused ? html`<button ?disabled=${this.isRunning} @click=${this._send}>${t('tools.sendAnyway')}</button>` : nothing}
          <button class="quiet" @click=${() => this._fire('ac-reset')}>${t('tools.reset')}</button>
          ${this._renderCopies(this.tool)}
        </div>
      </div>`;
  }

  /** @param {import('../client/tool-list.js').Tool} tool */
  _renderOptions({timeout_ms: timeoutMs}) {
    const {sessionId = '', timeoutMs: asked, host = ''} = this.draft;
    const hosts = [...new Set([...hostList.hosts.map(({name}) => name), ...(host ? [host] : [])])];
    const isWrong = sessionId !== '' && !SESSION.test(sessionId);
    return html`
      <details ?open=${Boolean(sessionId || asked || host)}>
        <summary>${t('tools.options')}</summary>
        <div class="options">
          <div>
            <label for="limit">${t('tools.timeLimit')}</label>
            <input id="limit" type="number" min="0.001" step="any" .value=${asked ? String(asked / 1000) : ''} aria-describedby="limit-hint" @change=${this._onLimit}>
            <p class="hint" id="limit-hint">${t('tools.timeLimitHint', {time: formatDuration(timeoutMs)})}</p>
          </div>
          <div>
            <label for="session">${t('tools.session')}</label>
            <input id="session" .value=${sessionId} maxlength="64" autocomplete="off" spellcheck="false" aria-describedby="session-hint"
              aria-invalid=${isWrong ? 'true' : nothing} @change=${this._onSession}>
            <p class=${isWrong ? 'field-error' : 'hint'} id="session-hint">${t(isWrong ? 'tools.sessionInvalid' : 'tools.sessionHint')}</p>
          </div>
          ${hosts.length ? html`
            <div>
              <label for="host">${t('tools.host')}</label>
              <select id="host" aria-describedby="host-hint" @change=${this._onHost}>
                ${['', ...hosts].map((name) => html`<option value=${name} ?selected=${name === host}>${name || t('tools.noHost')}</option>`)}
              </select>
              <p class="hint" id="host-hint">${t('tools.hostHint')}</p>
            </div>` : nothing}
        </div>
      </details>`;
  }

  /** @param {import('../client/tool-list.js').Tool} tool */
  _renderCopies(tool) {
    const request = () => ({tool: tool.name, ...this.draft});
    return html`
      <span class="copies" role="group" aria-label=${t('tools.copyAs')}>
        ${t('tools.copyAs')}
        <ac-copy labelled label=${t('tools.copy.curl')} .value=${() => asCurl(request(), location.origin)}></ac-copy>
        <ac-copy labelled label=${t('tools.copy.cli')} .value=${() => asCli(request(), tool.input_schema)}></ac-copy>
        <ac-copy labelled label=${t('tools.copy.json')} .value=${() => asJson(request())}></ac-copy>
      </span>`;
  }

  /** @param {string} name @param {Draft} [draft] */
  _fire(name, draft) {
    this._isRefused = false;
    this.dispatchEvent(new CustomEvent(name, {detail: {draft}, bubbles: true, composed: true}));
  }

  /** @param {Partial<Draft>} change */
  _change(change) {
    this.draft = {...this.draft, ...change};
    this._fire('ac-draft', this.draft);
  }

  /** @param {CustomEvent<{value: Record<string, any>}>} event */
  _onArguments(event) {
    event.stopPropagation();
    this._change({args: event.detail.value});
  }

  /** @param {Event} event */
  _onSession(event) {
    this._change({sessionId: /** @type {HTMLInputElement} */ (event.target).value.trim() || undefined});
  }

  /** @param {Event} event */
  _onHost(event) {
    this._change({host: /** @type {HTMLSelectElement} */ (event.target).value || undefined});
  }

  /** @param {Event} event */
  _onLimit(event) {
    const seconds = Number(/** @type {HTMLInputElement} */ (event.target).value);
    this._change({timeoutMs: seconds > 0 ? Math.max(1, Math.round(seconds * 1000)) : undefined});
  }

  /** @param {KeyboardEvent} event */
  _onKey(event) {
    if (event.key !== 'Enter' || isComposing(event) || event.defaultPrevented) return;
    if (!(event.ctrlKey || event.metaKey || this._isEnterEnough(event.composedPath()[0]))) return;
    event.preventDefault();
    this._run();
  }

  /** Return true if Enter alone runs the tool: only in single-line inputs of read-only tools, so that a slip changes nothing. @param {EventTarget} at */
  _isEnterEnough(at) {
    const isLine = at instanceof HTMLInputElement && ['text', 'number', 'password'].includes(at.type);
    return isLine && (this.tool?.effects.every((effect) => effect === 'read') ?? false);
  }

  _run() {
    if (this.isRunning) return;
    // the server may accept what the page's validation rejects: let the user decide
    if (this._form?.check()) this._send();
    else this._isRefused = !this._form?.hasTextError;
  }

  _send() {
    this._fire('ac-run', this.draft);
  }
}
customElements.define('ac-tool-form', AcToolForm);
