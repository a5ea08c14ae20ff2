import {LitElement, css, html, nothing} from 'lit';
import {keyed} from 'lit/directives/keyed.js';
import {chatSetup} from './setup.js';
import {Localized, inLocale, t} from '../base/i18n.js';
import {badges, base, buttons, fields} from '../ui/styles.js';
import {toConfirmation} from './ac-setup-error.js';
import {detailsOf, toldOf} from './provider-error.js';
import '../ui/ac-icon.js';

/** @typedef {import('./setup.js').Provider} Provider */
/** @typedef {import('../client/client.js').ApiError} ApiError */

/** Field at which an error is shown; other errors are shown above the buttons. @type {Record<string, 'key' | 'url'>} */
const FIELDS = {
  provider_unauthorized: 'key',
  provider_unreachable: 'url',
  provider_timeout: 'url',
  models_not_listed: 'url',
  models_empty: 'url',
  invalid_body: 'url',
};

/** Names that the server accepts. */
const NAME = /^[a-z][a-z0-9_-]{0,39}$/;

/** Errors of a test after which the user may store the input anyway. */
const FORCEABLE = new Set(['provider_unauthorized', 'provider_unreachable', 'provider_timeout', 'provider_failed', 'provider_rate_limited', 'models_not_listed', 'models_empty']);

/**
 * Form for the key and the address of one provider. They are tested before they are stored; a key is sent to the server and
 * never shown again.
 * @fires ac-provider {provider: string, key: string}  the entered key belongs to another provider
 */
export class AcProviderForm extends Localized(LitElement) {
  static properties = {
    provider: {attribute: false},
    isRefused: {type: Boolean, attribute: 'refused'},
    enteredKey: {attribute: false},
    address: {attribute: false},
    _work: {state: true},
    _status: {state: true},
    _error: {state: true},
    _missing: {state: true},
    _showsUrl: {state: true},
    _isBadName: {state: true},
  };

  static styles = [base, badges, buttons, fields, css`
    form { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-4); }
    .head { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-2); }
    .field { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-1); }
    .label { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: center; gap: var(--ac-space-2); }
    input { width: 100%; }
    .field-error { overflow-wrap: anywhere; text-wrap: pretty; }
    .another { justify-self: start; margin-inline-start: calc(-1 * var(--ac-space-2)); }
    .row { display: flex; flex-wrap: wrap; gap: var(--ac-space-2); align-items: center; }
    details { font-size: var(--ac-text-s); }
    summary { width: fit-content; cursor: pointer; color: var(--ac-text-muted); border-radius: var(--ac-radius-s); }
    details pre { margin: var(--ac-space-1) 0 0; white-space: pre-wrap; overflow-wrap: anywhere; color: var(--ac-text-muted); }
  `];

  constructor() {
    super();
    /** @type {Provider | null} */
    this.provider = null;
    /** True if the provider refused the key, or the lack of one, at the last request. */
    this.isRefused = false;
    /** A key that was entered in another provider's form and belongs here. */
    this.enteredKey = '';
    /** The address that the key is for, if it is not entered here. */
    this.address = '';
    /** @type {'' | 'testing' | 'saving'} */
    this._work = '';
    this._status = '';
    /** @type {ApiError | null} */
    this._error = null;
    this._missing = false;
    this._showsUrl = false;
    this._isBadName = false;
    /** True if the last test included a key. */
    this._hasTestedKey = false;
    /** @type {AbortController | null} */
    this._test = null;
  }

  disconnectedCallback() {
    this._test?.abort();
    super.disconnectedCallback();
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (changed.has('provider') && /** @type {Provider | undefined} */ (changed.get('provider'))?.provider !== this.provider?.provider) {
      this._test?.abort();
      this._error = null;
      this._missing = false;
      this._status = '';
      this._isBadName = false;
      this._showsUrl = needsUrl(this.provider);
    }
  }

  updated() {
    if (!this.enteredKey) return;
    this._input('key').value = this.enteredKey;
    this.enteredKey = '';
    this._input('key').focus();
  }

  render() {
    if (!this.provider) return nothing;
    const {provider, hasKey, keyOrigin, isFixed} = this.provider;
    return html`
      <form @submit=${this._submit} @input=${this._onInput} autocomplete="off" novalidate aria-busy=${this._work !== ''}>
        ${this._renderName()}
        <div class="field">
          <div class="label"><label for="key">${t('models.key')}</label>${this._renderBadge()}</div>
          <input id="key" name="key" type="password" autocomplete="new-password" spellcheck="false" autocapitalize="off" maxlength="1000" ?disabled=${isFixed} placeholder=${hasKey && !isFixed ? t('models.keyKept') : ''}
            aria-invalid=${this._missing || this.isRefused || this._errorAt('key') !== null} aria-describedby="key-error key-hint">
          <div id="key-error">${this._renderKeyError()}</div>
          <span class="hint" id="key-hint">${t(isFixed ? 'models.keyFixed' : 'models.keyHint')}</span>
        </div>
        ${(this.address || this.provider.isNamed) && !isFixed ? nothing : this._showsUrl || isFixed ? this._renderUrl() : html`<button type="button" class="another quiet small" @click=${this._showUrl}><ac-icon name="plus"></ac-icon>${t('models.anotherAddress')}</button>`}
        ${this._renderGeneralError()}
        <div class="row">
          ${isFixed ? nothing : html`<button class="primary" ?disabled=${this._work !== ''}>${this._work ? html`<ac-icon name="loader-circle"></ac-icon>` : nothing}${t(this._work === 'testing' ? 'models.testing' : 'models.connect')}</button>`}
          ${this._work === 'testing' ? html`<button type="button" @click=${() => this._test?.abort()}>${t('ui.cancel')}</button>` : nothing}
          ${!this._work && this._error && FORCEABLE.has(this._error.type) ? html`<button type="button" @click=${this._force}>${t('models.saveAnyway')}</button>` : nothing}
          ${!this._work && keyOrigin === 'stored' ? html`<button type="button" class="danger" data-provider=${provider} @click=${this._drop}>${t('models.dropKey')}</button>` : nothing}
          <span role="status" class="hint">${this._status}</span>
        </div>
      </form>`;
  }

  _renderBadge() {
    const {hasKey, keyOrigin} = /** @type {Provider} */ (this.provider);
    if (!hasKey) return nothing;
    if (this.isRefused) return html`<span class="badge danger">${t('models.keyRefused')}</span>`;
    return html`<span class="badge ok">${t(`models.keyFrom.${keyOrigin}`)}</span>`;
  }

  /** Render the name of a provider that is being added; keyed by it, so that what was typed for another one is gone. */
  _renderName() {
    const {isNew, provider} = /** @type {Provider} */ (this.provider);
    if (!isNew || this.address) return nothing;
    return keyed(provider, html`
      <div class="field">
        <label for="name">${t('models.name')}</label>
        <input id="name" name="name" spellcheck="false" autocapitalize="off" maxlength="40" value=${provider} aria-invalid=${this._isBadName} aria-describedby="name-error name-hint">
        <div id="name-error">${this._isBadName ? html`<p class="field-error" role="alert">${t('models.badName')}</p>` : nothing}</div>
        <span class="hint" id="name-hint">${t('models.nameHint')}</span>
      </div>`);
  }

  _renderUrl() {
    const {ownBaseUrl, exampleUrl, baseUrl, isFixed, isNew, isLocal, addresses} = /** @type {Provider} */ (this.provider);
    const error = this._errorAt('url');
    const known = Object.entries(addresses ?? {});
    return html`
      <div class="field">
        <label for="url">${t('models.baseUrl')}</label>
        <input id="url" name="url" type="url" inputmode="url" spellcheck="false" autocapitalize="off" maxlength="1000" list="addresses" ?disabled=${isFixed} .value=${baseUrl ?? (isNew && isLocal ? ownBaseUrl : '')} placeholder=${exampleUrl || ownBaseUrl}
          aria-invalid=${error !== null} aria-describedby="url-error url-hint">
        <datalist id="addresses">${known.map(([label, address]) => html`<option value=${address}>${label}</option>`)}</datalist>
        <div id="url-error">${error ? this._renderError(error) : nothing}</div>
        <span class="hint" id="url-hint">${t(ownBaseUrl ? 'models.baseUrlHint' : 'models.ownAddressHint')}</span>
      </div>`;
  }

  _renderKeyError() {
    if (this._missing) return html`<p class="field-error" role="alert">${t('models.keyMissing')}</p>`;
    const error = this._errorAt('key');
    const hadKey = error ? this._hasTestedKey : this.provider?.hasKey;
    if (error || this.isRefused) return html`<p class="field-error" role="alert">${t(hadKey ? 'models.refused.provider_unauthorized' : 'models.wantsKey')}</p>`;
    return nothing;
  }

  /** @param {ApiError} error */
  _renderError(error) {
    return html`
      <p class="field-error" role="alert">${messageOf(error)}</p>
      ${error.context?.detail ? html`<details><summary>${t('ui.details')}</summary><pre>${detailsOf(error)}</pre></details>` : nothing}`;
  }

  _renderGeneralError() {
    const field = this._error ? FIELDS[this._error.type] : undefined;
    if (!this._error || (field && !(field === 'url' && this.address))) return nothing;
    return this._error.type === 'confirmation_required' ? html`<ac-setup-error .error=${this._error}></ac-setup-error>` : this._renderError(this._error);
  }

  /** @param {'key' | 'url'} field */
  _errorAt(field) {
    return this._error && FIELDS[this._error.type] === field ? this._error : null;
  }

  /** @param {string} name */
  _input(name) {
    return /** @type {HTMLInputElement} */ (this.renderRoot.querySelector(`#${name}`));
  }

  async _showUrl() {
    this._showsUrl = true;
    await this.updateComplete;
    this._input('url').focus();
  }

  /** Clear the errors of the previous input, and pass a key of another provider on to its form. @param {InputEvent} event */
  _onInput(event) {
    this._error = null;
    this._missing = false;
    this._isBadName = false;
    this._status = '';
    const input = /** @type {HTMLInputElement} */ (event.target);
    const other = input.name === 'key' && ownerOf(input.value.trim());
    if (!other || other === this.provider?.service || this.address || this._input('url')?.value || chatSetup.providers.some(({provider, isFixed}) => provider === other && isFixed)) return;
    const key = input.value.trim();
    input.value = '';
    this.dispatchEvent(new CustomEvent('ac-provider', {detail: {provider: other, key}, bubbles: true, composed: true}));
  }

  /** Input that differs from what is stored. @returns {{key?: string, baseUrl?: string}} */
  get _entered() {
    const key = this._input('key').value.trim();
    if (this.provider?.isNamed) return {...(key && {key})};
    const url = withScheme(this.address || (this._input('url')?.value.trim() ?? this.provider?.baseUrl ?? ''));
    return {...(key && {key}), ...(url !== (this.provider?.baseUrl ?? '') && {baseUrl: url})};
  }

  /** @param {SubmitEvent} event */
  async _submit(event) {
    event.preventDefault();
    const provider = this._name;
    if (!provider) {
      this._isBadName = true;
      this._input('name').focus();
      return;
    }
    const entered = this._entered;
    if (!Object.keys(entered).length) {
      this._missing = true;
      this._input('key').focus();
      return;
    }
    const tested = await this._runTest(provider, entered);
    if (!tested) return;
    const baseUrl = tested.baseUrl ?? '';
    const changes = {...(entered.key && {key: entered.key}), ...(baseUrl !== (this.provider?.baseUrl ?? '') && {baseUrl})};
    await this._save(provider, Object.keys(changes).length ? changes : entered, tested);
  }

  /** The name of the provider; '' if the one that was entered is not allowed. */
  get _name() {
    const {provider, isNew} = /** @type {Provider} */ (this.provider);
    if (!isNew || this.address) return provider;
    const name = this._input('name').value.trim();
    return NAME.test(name) && !chatSetup.providers.some((one) => one.provider === name) ? name : '';
  }

  /** What a provider that is being added is. @returns {{service?: string}} */
  get _service() {
    return this.provider?.isNew ? {service: this.provider.service} : {};
  }

  /** @param {string} provider @param {{key?: string, baseUrl?: string}} entered */
  async _runTest(provider, entered) {
    this._work = 'testing';
    this._error = null;
    this._hasTestedKey = Boolean(entered.key);
    this._test = new AbortController();
    const {signal} = this._test;
    try {
      return await chatSetup.testProvider(provider, {...entered, ...this._service}, signal);
    } catch (error) {
      if (!signal.aborted) await this._show(/** @type {ApiError} */ (error));
      return null;
    } finally {
      if (this._work === 'testing') this._work = '';
    }
  }

  /** Show an error and focus the field that has to be corrected. @param {ApiError} error */
  async _show(error) {
    this._error = error;
    const field = FIELDS[error.type];
    if (field === 'url' && !this.address) this._showsUrl = true;
    this._work = '';
    await this.updateComplete;
    if (!field || !this._input(field)) return;
    this._input(field).focus();
    this._input(field).select();
  }

  _force() {
    if (this._name) void this._save(this._name, this._entered, null);
    else this._isBadName = true;
  }

  /** @param {string} provider @param {{key?: string, baseUrl?: string}} changes @param {import('./setup.js').TestedProvider | null} tested */
  async _save(provider, changes, tested) {
    if (await this._do(() => chatSetup.keepProvider(provider, {...changes, ...this._service}, tested), 'models.keySaved')) this._input('url')?.blur();
    // whatever the outcome, the secret must not stay in the page
    if (this._input('key')) this._input('key').value = '';
  }

  _drop() {
    void this._do(() => chatSetup.dropProvider(/** @type {Provider} */ (this.provider).provider), 'models.keyDropped');
  }

  /** @param {() => Promise<void>} work @param {string} done */
  async _do(work, done) {
    this._work = 'saving';
    this._error = null;
    this._status = '';
    try {
      await work();
      this._status = t(done);
    } catch (error) {
      this._error = /** @type {ApiError} */ (error);
      toConfirmation(this, this._error);
    }
    this._work = '';
    return !this._error;
  }
}

/** Return true if the address of a provider has to be shown: it has one of its own, or needs one. @param {Provider | null} provider */
function needsUrl(provider) {
  if (!provider) return false;
  const {baseUrl, isNew, isLocal, ownBaseUrl, service} = provider;
  return Boolean(baseUrl || (isNew && (isLocal || !ownBaseUrl || provider.provider !== service)));
}

/** Return the service whose keys begin like this one; '' if it is unknown. @param {string} key */
function ownerOf(key) {
  return chatSetup.services.find(({keyPrefix}) => keyPrefix && key.startsWith(keyPrefix))?.service ?? '';
}

/** @param {ApiError} error */
function messageOf(error) {
  if (error.type === 'invalid_body') return t('models.badAddress');
  return toldOf(error);
}

/** Return an address with a scheme: if it has none, http for local addresses, https for others. @param {string} text */
function withScheme(text) {
  if (!text || /^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return text;
  return `${/^(localhost|127\.|\[::1\]|10\.|192\.168\.)/.test(text) ? 'http' : 'https'}://${text}`;
}
customElements.define('ac-provider-form', AcProviderForm);
