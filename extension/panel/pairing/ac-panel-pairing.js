import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../../webui/base/i18n.js';
import {base, buttons, cards, fields} from '../../webui/ui/styles.js';
import '../../webui/ui/ac-icon.js';
import {pair, serverOrigin} from '../../worker/servers.js';
import {browserOnSystem} from '../../worker/browser-name.js';

const USUAL_ADDRESS = 'http://127.0.0.1:8765';

/** @typedef {{state: import('../../worker/servers.js').PairProblem, origin: string, message?: string}} Problem */

/**
 * Pairs the panel with a server: asks for the address and the code that the server shows, then waits for the user's confirmation there.
 * @fires ac-back  when the user leaves without pairing
 */
export class AcPanelPairing extends Localized(LitElement) {
  static properties = {
    server: {attribute: false},
    reason: {},
    mayLeave: {type: Boolean, attribute: 'leave'},
    _problem: {state: true},
    _waitsFor: {state: true},
    _isAsking: {state: true},
  };

  static styles = [base, buttons, fields, cards, css`
    :host { display: grid; align-content: safe center; min-height: 100%; padding: var(--ac-space-5) var(--ac-space-4); }
    .whole { display: grid; gap: var(--ac-space-4); width: min(26rem, 100%); margin-inline: auto; }
    .head { display: grid; justify-items: center; gap: var(--ac-space-2); text-align: center; }
    .head img { width: 2.5rem; height: 2.5rem; }
    .head h1 { font-size: var(--ac-text-xl); }
    .head p { color: var(--ac-text-muted); text-wrap: pretty; }
    form, .card { display: grid; gap: var(--ac-space-4); padding: var(--ac-space-4); }
    .field { display: grid; gap: var(--ac-space-1); }
    .field input { width: 100%; }
    .code { font-family: var(--ac-font-mono); font-size: var(--ac-text-l); letter-spacing: 0.08em; text-transform: uppercase; }
    ol { display: grid; gap: var(--ac-space-2); counter-reset: step; color: var(--ac-text-muted); font-size: var(--ac-text-s); }
    li { display: grid; grid-template-columns: 1.25rem minmax(0, 1fr); gap: var(--ac-space-2); counter-increment: step; }
    li::before { content: counter(step); display: grid; place-items: center; width: 1.25rem; height: 1.25rem; border-radius: 50%; background: var(--ac-surface-sunken); color: var(--ac-text); font-size: var(--ac-text-xs); font-variant-numeric: tabular-nums; }
    .note { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: var(--ac-space-2); padding: var(--ac-space-3); border-radius: var(--ac-radius-m); background: var(--ac-danger-soft); font-size: var(--ac-text-s); overflow-wrap: anywhere; }
    .note ac-icon { margin-top: 0.125rem; color: var(--ac-danger); }
    .note.warn { background: var(--ac-warn-soft); }
    .note.warn ac-icon { color: var(--ac-warn); }
    .wait { justify-items: center; text-align: center; overflow-wrap: anywhere; }
    .wait > ac-icon { width: 1.75rem; height: 1.75rem; color: var(--ac-accent); }
    .wait h2 { font-size: var(--ac-text-l); margin-bottom: var(--ac-space-2); }
    .wait p { text-wrap: pretty; }
    .actions { display: flex; flex-wrap: wrap; justify-content: center; gap: var(--ac-space-2); }
    form button.primary { width: 100%; }
  `];

  constructor() {
    super();
    /** A server that has to be paired again. @type {import('../../worker/servers.js').Server | null} */
    this.server = null;
    /** Why it has to be paired again; empty if no server was paired yet, or another one is being paired. */
    this.reason = '';
    this.mayLeave = false;
    /** @type {Problem | null} */
    this._problem = null;
    /** The origin of the server on which the user is being asked to confirm. */
    this._waitsFor = '';
    this._isAsking = false;
    this._ending = new AbortController();
  }

  disconnectedCallback() {
    this._ending.abort();
    super.disconnectedCallback();
  }

  render() {
    return html`<main class="whole">${this._waitsFor ? this._renderWaiting() : this._renderForm()}</main>`;
  }

  _renderForm() {
    const {_problem: problem} = this;
    return html`
      <div class="head"><img src="/webui/icon.svg" alt=""><h1>${t('panel.pair')}</h1><p>${t('panel.pairText')}</p></div>
      ${this.reason ? html`<p class="note warn" role="alert"><ac-icon name="triangle-alert"></ac-icon><span>${this.reason}</span></p>` : nothing}
      <form class="card" @submit=${this._submit}>
        <ol><li><span>${t('panel.pairStep1')}</span></li><li><span>${t('panel.pairStep2')}</span></li><li><span>${t('panel.pairStep3')}</span></li></ol>
        <div class="field"><label for="address">${t('panel.address')}</label>
          <input id="address" type="text" inputmode="url" autocomplete="off" spellcheck="false" required .value=${this.server?.origin ?? USUAL_ADDRESS} aria-invalid=${isOfAddress(problem) ? 'true' : nothing} aria-describedby="problem"></div>
        <div class="field"><label for="code">${t('panel.code')}</label>
          <input id="code" class="code" type="text" autocomplete="off" autocapitalize="characters" spellcheck="false" required maxlength="32" aria-invalid=${problem?.state === 'wrong_code' ? 'true' : nothing} aria-describedby="hint problem">
          <span class="hint" id="hint">${t('panel.codeHint')}</span></div>
        <div id="problem" role="alert" ?hidden=${!problem}>${problem ? html`<p class="note"><ac-icon name="circle-alert"></ac-icon><span>${t(`panel.problem.${problem.state}`, {origin: problem.origin, message: problem.message ?? ''})}</span></p>` : nothing}</div>
        <button class="primary" ?disabled=${this._isAsking}>${t('panel.pairNow')}</button>
      </form>
      ${this.mayLeave ? html`<div class="actions"><button class="quiet" @click=${this._leave}><ac-icon name="chevron-left"></ac-icon>${t('panel.back')}</button></div>` : nothing}`;
  }

  _renderWaiting() {
    return html`
      <div class="card wait">
        <ac-icon name="shield"></ac-icon>
        <div role="status"><h2>${t('panel.pairing')}</h2><p class="muted">${t('panel.pairingText', {origin: this._waitsFor, name: browserOnSystem()})}</p></div>
        <div class="actions">
          <a class="button primary" href=${this._waitsFor} target="_blank"><ac-icon name="external-link"></ac-icon>${t('panel.openPage')}</a>
          <button @click=${this._cancel}>${t('panel.cancel')}</button>
        </div>
      </div>`;
  }

  /** @param {string} id */
  _field(id) {
    return /** @type {HTMLInputElement} */ (this.renderRoot.querySelector(`#${id}`));
  }

  /** @param {Event} event */
  async _submit(event) {
    event.preventDefault();
    const [address, code] = [this._field('address').value, this._field('code').value];
    const origin = serverOrigin(address) ?? address.trim();
    this._problem = null;
    this._isAsking = true;
    this._ending = new AbortController();
    const {signal} = this._ending;
    try {
      const result = await pair({origin: address, code, name: browserOnSystem(), signal, onAsked: () => { this._waitsFor = origin; }});
      // once paired, the new server is the one in use and the panel reloads
      if (result.state !== 'paired') this._problem = {...result, origin};
    } catch (error) {
      if (!signal.aborted) this._problem = {state: 'failed', origin, message: String(error)};
    }
    this._isAsking = false;
    this._waitsFor = '';
    await this.updateComplete;
    if (this._problem) this._field(isOfAddress(this._problem) ? 'address' : 'code').focus();
  }

  _cancel() {
    this._ending.abort();
  }

  _leave() {
    this.dispatchEvent(new CustomEvent('ac-back'));
  }
}
customElements.define('ac-panel-pairing', AcPanelPairing);

/** @param {Problem | null} problem */
function isOfAddress(problem) {
  return ['no_server', 'not_agentcore', 'invalid_address', 'permission_refused', 'unknown_extension'].includes(problem?.state ?? '');
}
