import {LitElement, css, html, nothing} from 'lit';
import {Localized, formatTime, t} from '../base/i18n.js';
import {Listening} from '../base/subscriptions.js';
import {client} from '../client/client.js';
import {confirm} from '../ui/overlay/confirm.js';
import {badges, base, buttons, fields} from '../ui/styles.js';
import '../ui/ac-icon.js';
import '../ui/ac-state.js';
import './cards/ac-approval-host.js';
import {visibleLine} from './guard/visible-text.js';
import {startOver} from './guard/button-arming.js';

/** @typedef {{name: string, kind: string, state: string, address: string, pairedAt: number | null, mayUseChats: boolean}} PairedHost */
/** @typedef {import('./cards/ac-approval-host.js').WaitingHost} WaitingHost */
/** @typedef {import('../client/client.js').ApiError} ApiError */

const CODE_CHARACTERS = 40;
/** Fragment of the address that focuses the field for a code. */
const ADD = '#add-host';

/**
 * Hosts on other machines: add one by the code that it shows, accept or refuse it, and forget one. Pools are only listed:
 * NATS authorises their hosts.
 */
export class AcApprovalHosts extends Localized(LitElement) {
  static properties = {
    _hosts: {state: true},
    _waits: {state: true},
    _code: {state: true},
    _failure: {state: true},
    _done: {state: true},
    _isBusy: {state: true},
  };

  static styles = [badges, base, buttons, fields, css`
    section { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-3); }
    h2 { font-size: var(--ac-text-m); }
    li { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: var(--ac-space-2); align-items: center; padding-block: var(--ac-space-1); border-bottom: 1px solid var(--ac-border); }
    .about { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-1) var(--ac-space-2); }
    .name { font-family: var(--ac-font-mono); overflow-wrap: anywhere; }
    form { display: grid; gap: var(--ac-space-1); }
    .row { display: flex; flex-wrap: wrap; gap: var(--ac-space-2); }
    .row input { flex: 0 1 14rem; min-width: 0; font-family: var(--ac-font-mono); letter-spacing: 0.08em; text-transform: uppercase; }
  `];

  constructor() {
    super();
    /** @type {PairedHost[]} */
    this._hosts = [];
    /** The host that shows the entered code. @type {WaitingHost | null} */
    this._waits = null;
    this._code = '';
    this._failure = '';
    this._done = '';
    this._isBusy = false;
    new Listening(this, () => [
      client.on('hosts.changed', () => void this._load()),
      client.on('host.stateChanged', () => void this._load()),
      client.on('connection', (connection) => { if (connection === 'open') void this._load(); }),
    ]);
  }

  firstUpdated() {
    void this._load();
    if (location.hash === ADD) this._field.focus();
  }

  render() {
    return html`
      <section>
        <h2>${t('approval.hosts')}</h2>
        <p class="muted small">${t('approval.hostsText')}</p>
        ${this._hosts.length ? html`<ul>${this._hosts.map((known) => this._host(known))}</ul>` : nothing}
        <form @submit=${this._find}>
          <label for="code">${t('approval.hostCode')}</label>
          <div class="row">
            <input id="code" .value=${this._code} required maxlength=${CODE_CHARACTERS} autocomplete="off" autocapitalize="characters" spellcheck="false"
              aria-invalid=${this._failure ? 'true' : 'false'} aria-describedby=${this._failure ? 'hint failure' : 'hint'} @input=${this._type}>
            <button ?disabled=${this._isBusy} aria-busy=${this._isBusy}><ac-icon name=${this._isBusy ? 'loader-circle' : 'eye'}></ac-icon>${t('approval.hostAdd')}</button>
          </div>
          <p id="hint" class="hint">${t('approval.hostCodeHint')}</p>
          ${this._failure ? html`<p id="failure" class="field-error" role="alert">${this._failure}</p>` : nothing}
        </form>
        ${this._waits ? html`<ac-approval-host .waits=${this._waits} @ac-settled=${this._settled}></ac-approval-host>` : nothing}
        <p class="small" role="status">${this._done}</p>
      </section>`;
  }

  /** @param {PairedHost} host */
  _host({name, kind, state, address, pairedAt, mayUseChats}) {
    return html`
      <li>
        <div class="about">
          <span class="name">${name}</span><ac-state room="hosts" .state=${state}></ac-state>
          ${address ? html`<span class="muted small">${visibleLine(address).parts}</span>` : nothing}
          ${kind !== 'remote' ? html`<span class="muted small">${t('approval.hostPool')}</span>` : nothing}
          ${pairedAt === null ? nothing : html`<span class="muted small">${t('approval.hostSince', {time: formatTime(pairedAt, {seconds: false})})}</span>`}
          ${mayUseChats ? html`<span class="badge warn">${t('hosts.usesChats')}</span>` : nothing}
        </div>
        ${kind !== 'remote' ? nothing : html`<div class="row">
          <button class="small" aria-label=${t(mayUseChats ? 'hosts.chatsOffNamed' : 'hosts.chatsOnNamed', {name})} @click=${(/** @type {Event} */ event) => this._allow(event, name, !mayUseChats)}>${t(mayUseChats ? 'hosts.chatsOff' : 'hosts.chatsOn')}</button>
          <button class="small danger" aria-label=${t('hosts.forgetNamed', {name})} @click=${(/** @type {Event} */ event) => this._forget(event, name)}>${t('hosts.forget')}</button></div>`}
      </li>`;
  }

  get _field() {
    return /** @type {HTMLInputElement} */ (this.renderRoot.querySelector('#code'));
  }

  async _load() {
    try {
      const {hosts} = await client.get('/api/hosts');
      /** @type {PairedHost[]} */
      const shown = hosts.filter((/** @type {PairedHost} */ {kind, state}) => (kind === 'remote' ? state !== 'waiting' : kind !== 'process' && kind !== 'member'))
        .map((/** @type {PairedHost} */ {name, kind, state, address, pairedAt, mayUseChats}) => ({name, kind, state, address, pairedAt, mayUseChats}));
      if (JSON.stringify(shown) === JSON.stringify(this._hosts)) return; // hosts of pools come and go, but are not shown
      this._hosts = shown;
      startOver(); // the list is above the card and may have moved it
    } catch {
      // the connection state already shows the failure
    }
  }

  /** @param {Event} event */
  _type(event) {
    this._code = /** @type {HTMLInputElement} */ (event.target).value;
    this._failure = '';
  }

  /** Request the host that shows the entered code. @param {Event} event */
  async _find(event) {
    event.preventDefault();
    if (!event.isTrusted) return;
    this._isBusy = true;
    this._failure = this._done = '';
    this._waits = null;
    try {
      this._waits = await client.post('/api/host-pairings', {code: this._code.trim()});
      this._code = '';
      await this._lead('ac-approval-host');
    } catch (error) {
      const {type, message} = /** @type {ApiError} */ (error);
      this._failure = type === 'invalid_code' ? t('approval.hostCodeWrong') : message;
      this._field.select();
    } finally {
      this._isBusy = false;
    }
  }

  /** Scroll to a new card and focus it. @param {string} tag */
  async _lead(tag) {
    await this.updateComplete;
    const card = /** @type {import('lit').LitElement | null} */ (this.renderRoot.querySelector(tag));
    await card?.updateComplete;
    card?.scrollIntoView({block: 'nearest'});
    /** @type {HTMLElement | null | undefined} */ (card?.renderRoot.querySelector('article'))?.focus({preventScroll: true});
  }

  /** @param {CustomEvent<{error: ApiError | null, accepted: boolean}>} event */
  async _settled({detail: {error, accepted}}) {
    const name = visibleLine(this._waits?.name ?? '').text;
    this._waits = null;
    if (error) this._failure = error.type === 'pairing_not_found' ? t('approval.hostGone', {name}) : error.message;
    else this._done = t(accepted ? 'approval.hostAdded' : 'approval.hostRefused', {name});
    await this.updateComplete;
    this._field.focus();
    await this._load();
  }

  /** Allow or forbid a host to use chats. @param {Event} event @param {string} name @param {boolean} isOn */
  async _allow(event, name, isOn) {
    if (!event.isTrusted) return;
    const question = {heading: t('hosts.chatsHeading', {name}), text: t('approval.hostChatsHint'), action: t('hosts.chatsOn'), isDangerous: true};
    if (isOn && !await confirm(question)) return;
    this._failure = this._done = '';
    try {
      await client.post(`/api/hosts/${encodeURIComponent(name)}/chats`, {on: isOn});
    } catch (error) {
      this._failure = /** @type {Error} */ (error).message;
    }
    await this._load();
  }

  /** @param {Event} event @param {string} name */
  async _forget(event, name) {
    if (!event.isTrusted) return;
    const question = {heading: t('hosts.forgetHeading', {name}), text: t('hosts.forgetText', {name}), action: t('hosts.forget'), isDangerous: true};
    if (!await confirm(question)) return;
    this._failure = this._done = '';
    try {
      await client.del(`/api/hosts/${encodeURIComponent(name)}`);
      this._done = t('hosts.done.forget', {name});
    } catch (error) {
      this._failure = /** @type {Error} */ (error).message;
    }
    await this._load();
  }
}

customElements.define('ac-approval-hosts', AcApprovalHosts);
