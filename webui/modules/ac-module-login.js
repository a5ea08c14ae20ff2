import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../base/i18n.js';
import {client} from '../client/client.js';
import {base, buttons, cards, fields} from '../ui/styles.js';
import {confirm} from '../ui/overlay/confirm.js';
import {toastError} from '../ui/toasts.js';
import '../ui/ac-copy.js';
import '../ui/ac-icon.js';
import '../base/later-strings.js';

/** @typedef {{state: 'needed' | 'waiting' | 'logged_in' | 'unneeded', said: string, address: string}} Login */

const LOOK_MS = 1500;

/**
 * Login of a module: starts it, shows the full address to open, and shows the outcome.
 *
 * @fires ac-login-changed  Carries the current state, or null if it has to be fetched.
 */
export class AcModuleLogin extends Localized(LitElement) {
  static properties = {
    module: {},
    login: {attribute: false},
    _isBusy: {state: true},
    _hasOpened: {state: true},
  };

  static styles = [base, buttons, cards, fields, css`
    :host { display: block; margin-top: var(--ac-space-6); }
    .card { display: grid; gap: var(--ac-space-3); padding: var(--ac-space-4); }
    .asks { border-color: color-mix(in srgb, var(--ac-warn) 35%, transparent); background: var(--ac-warn-soft); }
    h2 { font-size: var(--ac-text-l); }
    .line { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-2) var(--ac-space-3); }
    .line > p { flex: 1 1 16rem; min-width: 0; overflow-wrap: anywhere; }
    .address { display: flex; align-items: start; gap: var(--ac-space-2); max-height: 24rem; overflow: auto; padding: var(--ac-space-2) var(--ac-space-3); background: var(--ac-surface-sunken); border-radius: var(--ac-radius-m); }
    .address code { flex: 1; min-width: 0; overflow-wrap: anywhere; }
    summary { cursor: pointer; color: var(--ac-text-muted); }
    details > * + * { margin-top: var(--ac-space-2); }
    form { display: flex; flex-wrap: wrap; gap: var(--ac-space-2); }
    form input { flex: 1 1 16rem; min-width: 0; }
  `];

  constructor() {
    super();
    this.module = '';
    /** @type {Login | null} */
    this.login = null;
    this._isBusy = false;
    this._hasOpened = false;
    /** @type {number | undefined} */
    this._timer = undefined;
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    clearTimeout(this._timer);
  }

  /** @param {Map<string, unknown>} changed */
  updated(changed) {
    if (!changed.has('login')) return;
    clearTimeout(this._timer);
    if (this.login?.state === 'waiting') this._timer = setTimeout(() => this._tell(null), LOOK_MS);
  }

  render() {
    switch (this.login?.state) {
      case 'needed': return this._needed(this.login);
      case 'waiting': return this._waiting(this.login);
      case 'logged_in': return this._loggedIn(this.login);
      default: return nothing;
    }
  }

  /** @param {Login} login */
  _needed({said}) {
    return html`
      <section class="card asks" aria-labelledby="login">
        <h2 id="login">${t('modules.login.needed')}</h2>
        <div class="line"><p>${said || t('modules.login.wants')}</p>
          <button class="primary" ?disabled=${this._isBusy} @click=${() => this._begin()}>${t('modules.login.begin')}</button></div>
      </section>`;
  }

  /** @param {Login} login */
  _waiting({address}) {
    const isWeb = /^https?:\/\//.test(address) && URL.canParse(address);
    return html`
      <section class="card asks" aria-labelledby="login" aria-live="polite">
        <h2 id="login">${t('modules.login.waiting')}</h2>
        ${isWeb ? html`
          <p>${t('modules.login.open')}</p>
          <div class="address" tabindex="0" role="group" aria-label=${t('modules.login.address')}><code>${address}</code><ac-copy .value=${address}></ac-copy></div>
          <div class="line"><a class="button ${this._hasOpened ? '' : 'primary'}" href=${address} target="_blank" rel="noopener noreferrer"
            @click=${() => { this._hasOpened = true; }}><ac-icon name="external-link"></ac-icon>${t('modules.login.openAt', {host: new URL(address).host})}</a></div>
          <details><summary>${t('modules.login.elsewhere')}</summary>
            <p>${t('modules.login.landed')}</p>
            <form @submit=${this._finish}>
              <input name="landed" required autocomplete="off" spellcheck="false" placeholder="http://127.0.0.1:…/callback?code=…" aria-label=${t('modules.login.landedAddress')}>
              <button ?disabled=${this._isBusy}>${t('modules.login.finish')}</button>
            </form></details>` : html`<p>${t('modules.login.beginning')}</p>`}
      </section>`;
  }

  /** @param {Login} login */
  _loggedIn({said}) {
    return html`
      <section class="card" aria-label=${t('modules.login.heading')}>
        <div class="line"><p>${said ? t('modules.login.inAt', {host: said}) : t('modules.login.in')}</p>
          <button class="small" ?disabled=${this._isBusy} @click=${() => this._logOut()}>${t('modules.login.out')}</button></div>
      </section>`;
  }

  get _path() {
    return `/api/modules/${encodeURIComponent(this.module)}/login`;
  }

  async _begin() {
    this._hasOpened = false;
    await this._do(async () => { this._tell(await client.post(this._path, {})); });
  }

  /** @param {SubmitEvent} event */
  async _finish(event) {
    event.preventDefault();
    const landed = new FormData(/** @type {HTMLFormElement} */ (event.target)).get('landed');
    await this._do(async () => { this._tell(await client.post(this._path, {landed})); });
  }

  async _logOut() {
    if (!await confirm({heading: t('modules.login.outHeading'), text: t('modules.login.outText'), action: t('modules.login.out')})) return;
    await this._do(async () => { this._tell(await client.del(this._path)); });
  }

  /** @param {() => Promise<void>} what */
  async _do(what) {
    this._isBusy = true;
    try {
      await what();
    } catch (error) {
      toastError(t('modules.login.failed'), error);
      this._tell(null);
    } finally {
      this._isBusy = false;
    }
  }

  /** @param {Login | null} login */
  _tell(login) {
    this.dispatchEvent(new CustomEvent('ac-login-changed', {detail: login}));
  }
}
customElements.define('ac-module-login', AcModuleLogin);
