import {LitElement, css, html, nothing} from 'lit';
import {chatSetup} from './setup.js';
import {Localized, inLocale, t} from '../base/i18n.js';
import {badges, base, buttons, fields} from '../ui/styles.js';
import {toConfirmation} from './ac-setup-error.js';

/** @typedef {import('./setup.js').Provider} Provider */

/** The address and the key of one provider. A key goes to the server and is never shown again. */
export class AcProviderForm extends Localized(LitElement) {
  static properties = {provider: {attribute: false}, isRefused: {type: Boolean, attribute: 'refused'}, _isBusy: {state: true}, _status: {state: true}, _error: {state: true}};

  static styles = [base, badges, buttons, fields, css`
    form { display: grid; gap: var(--ac-space-3); }
    .head { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-2); }
    .head h2 { flex: 1; font-size: var(--ac-text-m); }
    .field { display: grid; gap: var(--ac-space-1); }
    input { width: 100%; }
    .row { display: flex; flex-wrap: wrap; gap: var(--ac-space-2); align-items: center; }
  `];

  constructor() {
    super();
    /** @type {Provider | null} */
    this.provider = null;
    /** Whether it refused the key, or that there was none, when it was asked last. */
    this.isRefused = false;
    this._isBusy = false;
    this._status = '';
    /** @type {import('../client/client.js').ApiError | null} */
    this._error = null;
  }

  render() {
    if (!this.provider) return nothing;
    const {label, ownBaseUrl, baseUrl, hasKey, keyOrigin} = this.provider;
    const isFixed = keyOrigin === 'environment';
    return html`
      <form @submit=${this._save} autocomplete="off">
        <div class="head"><h2>${inLocale(label)}</h2>${this._renderBadge()}</div>
        <div class="field">
          <label for="key">${t('models.key')}</label>
          <input id="key" name="key" type="password" autocomplete="new-password" spellcheck="false" ?disabled=${isFixed} placeholder=${hasKey ? t('models.keyKept') : ''} aria-invalid=${this.isRefused} aria-describedby="key-hint">
          ${this.isRefused ? html`<span class="field-error" role="alert">${t(hasKey ? 'models.refused.provider_unauthorized' : 'models.wantsKey')}</span>` : nothing}
          <span class="hint" id="key-hint">${t(isFixed ? 'models.keyFixed' : 'models.keyHint')}</span>
        </div>
        <div class="field">
          <label for="url">${t('models.baseUrl')}</label>
          <input id="url" name="url" type="url" spellcheck="false" .value=${baseUrl ?? ''} placeholder=${ownBaseUrl} aria-describedby="url-hint">
          <span class="hint" id="url-hint">${t('models.baseUrlHint')}</span>
        </div>
        <ac-setup-error .error=${this._error}></ac-setup-error>
        <div class="row">
          <button class="primary" ?disabled=${this._isBusy}>${t('models.saveKey')}</button>
          ${keyOrigin === 'stored' ? html`<button type="button" class="danger" ?disabled=${this._isBusy} @click=${this._drop}>${t('models.dropKey')}</button>` : nothing}
          <span role="status" class="hint">${this._status}</span>
        </div>
      </form>`;
  }

  _renderBadge() {
    const {hasKey, keyOrigin} = /** @type {Provider} */ (this.provider);
    if (!hasKey) return html`<span class="badge">${t('models.noKey')}</span>`;
    if (this.isRefused) return html`<span class="badge danger">${t('models.keyRefused')}</span>`;
    return html`<span class="badge ok">${t(`models.keyFrom.${keyOrigin}`)}</span>`;
  }

  /** @param {SubmitEvent} event */
  async _save(event) {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.target);
    const given = new FormData(form);
    const key = String(given.get('key') ?? '').trim();
    const url = String(given.get('url') ?? '').trim();
    const {provider, baseUrl} = /** @type {Provider} */ (this.provider);
    const changes = {...(key && {key}), ...(url !== (baseUrl ?? '') && {baseUrl: url})};
    if (!Object.keys(changes).length) return;
    if (await this._do(() => chatSetup.keepProvider(provider, changes), 'models.keySaved')) form.reset();
    // whatever came of it, what is secret does not stay in the page
    /** @type {HTMLInputElement} */ (form.elements.namedItem('key')).value = '';
  }

  _drop() {
    void this._do(() => chatSetup.dropProvider(/** @type {Provider} */ (this.provider).provider), 'models.keyDropped');
  }

  /** @param {() => Promise<void>} work @param {string} done */
  async _do(work, done) {
    this._isBusy = true;
    this._error = null;
    this._status = '';
    try {
      await work();
      this._status = t(done);
    } catch (error) {
      this._error = /** @type {import('../client/client.js').ApiError} */ (error);
      toConfirmation(this, this._error);
    }
    this._isBusy = false;
    return !this._error;
  }
}
customElements.define('ac-provider-form', AcProviderForm);
