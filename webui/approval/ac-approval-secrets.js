import {LitElement, css, html, nothing} from 'lit';
import {Localized, formatList, formatTime, t} from '../base/i18n.js';
import {Listening} from '../base/subscriptions.js';
import {client} from '../client/client.js';
import {badges, base, buttons, fields} from '../ui/styles.js';
import '../ui/ac-icon.js';
import {visibleText} from './guard/visible-text.js';

/** @typedef {{secrets: {name: string, setAt: number, usedBy: string[]}[], missing: Record<string, string[]>}} Secrets */

const NAME = '[A-Za-z_][A-Za-z0-9_.\\-]{0,63}';

/** Names of secrets, and the only form in the browser for their values, because no script of the page runs here. */
export class AcApprovalSecrets extends Localized(LitElement) {
  static properties = {
    _found: {state: true},
    _name: {state: true},
    _failure: {state: true},
    _done: {state: true},
    _isBusy: {state: true},
  };

  static styles = [badges, base, buttons, fields, css`
    section { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-3); }
    h2 { font-size: var(--ac-text-m); }
    li { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: var(--ac-space-1) var(--ac-space-2); align-items: center; padding-block: var(--ac-space-1); border-bottom: 1px solid var(--ac-border); }
    .about { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-1) var(--ac-space-2); }
    .name { font-family: var(--ac-font-mono); overflow-wrap: anywhere; }
    .set { display: flex; flex-wrap: wrap; align-items: end; gap: var(--ac-space-2); }
    .set > div { flex: 1 1 12rem; display: grid; gap: var(--ac-space-1); min-width: 0; }
    .set input { width: 100%; }
  `];

  constructor() {
    super();
    /** @type {Secrets} */
    this._found = {secrets: [], missing: {}};
    this._name = '';
    this._failure = '';
    this._done = '';
    this._isBusy = false;
    new Listening(this, () => [
      client.on('settings.changed', () => void this._load()),
      client.on('connection', (connection) => { if (connection === 'open') void this._load(); }),
    ]);
  }

  firstUpdated() {
    void this._load();
  }

  render() {
    const {secrets, missing} = this._found;
    const isEmpty = !secrets.length && !Object.keys(missing).length;
    return html`
      <section>
        <h2>${t('approval.secrets')}</h2>
        <p class="muted small">${t('approval.secretsText')}</p>
        ${isEmpty ? nothing : html`
          <ul>
            ${Object.entries(missing).map(([name, users]) => this._row(name, users, html`<span class="badge warn">${t('approval.secretMissing')}</span>`, t('approval.secretSet')))}
            ${secrets.map(({name, usedBy, setAt}) => this._row(name, usedBy, html`<span class="muted small">${t('approval.secretSince', {time: formatTime(setAt, {seconds: false})})}</span>`, t('approval.secretReplace')))}
          </ul>`}
        <form class="set" @submit=${this._set}>
          <div><label for="name">${t('approval.secretName')}</label>
            <input id="name" class="mono" .value=${this._name} required pattern=${NAME} spellcheck="false" autocomplete="off" @input=${(/** @type {Event} */ event) => { this._name = /** @type {HTMLInputElement} */ (event.target).value; }}></div>
          <div><label for="value">${t('approval.secretValue')}</label>
            <input id="value" type="password" required autocomplete="off"></div>
          <button ?disabled=${this._isBusy}><ac-icon name="key"></ac-icon>${t('approval.secretSet')}</button>
        </form>
        <p class="small" role="status">${this._done}</p>
        ${this._failure ? html`<p class="field-error" role="alert">${this._failure}</p>` : nothing}
      </section>`;
  }

  /** @param {string} name @param {string[]} users @param {unknown} state @param {string} action */
  _row(name, users, state, action) {
    return html`
      <li>
        <div class="about"><span class="name">${visibleText(name)}</span>${state}
          ${users.length ? html`<span class="muted small">${t('approval.secretUsers', {names: formatList(users)})}</span>` : nothing}</div>
        <button class="small" aria-label=${t('approval.secretNamed', {action, name})} @click=${() => this._choose(name)}>${action}</button>
      </li>`;
  }

  /** @param {string} name */
  async _choose(name) {
    this._name = name;
    await this.updateComplete;
    this._value.focus();
  }

  get _value() {
    return /** @type {HTMLInputElement} */ (this.renderRoot.querySelector('#value'));
  }

  async _load() {
    try {
      this._found = await client.get('/api/secrets');
    } catch {
      // the connection state already shows the failure
    }
  }

  /** @param {Event} event */
  async _set(event) {
    event.preventDefault();
    if (!event.isTrusted) return;
    const name = this._name;
    this._isBusy = true;
    this._failure = this._done = '';
    try {
      await client.put(`/api/secrets/${encodeURIComponent(name)}`, {value: this._value.value});
      this._value.value = '';
      this._name = '';
      this._done = t('approval.secretKept', {name});
      await this._load();
    } catch (error) {
      this._failure = /** @type {Error} */ (error).message;
    } finally {
      this._isBusy = false;
    }
  }
}

customElements.define('ac-approval-secrets', AcApprovalSecrets);
