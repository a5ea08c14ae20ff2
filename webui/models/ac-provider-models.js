import {LitElement, css, html, nothing} from 'lit';
import {chatSetup} from './setup.js';
import {Localized, t} from '../base/i18n.js';
import {isComposing} from '../base/input-method.js';
import {Listening} from '../base/subscriptions.js';
import {badges, base, buttons, fields} from '../ui/styles.js';
import '../ui/ac-icon.js';
import './ac-provider-form.js';
import './ac-setup-error.js';

const MANY = 8;

/** @typedef {import('../client/client.js').ApiError} ApiError */

/**
 * The models that a provider reports; if it reports none, the user can name one. `asks`: requested at once; otherwise by a button.
 * @fires ac-use-model {model: string}  `provider:model`
 */
export class AcProviderModels extends Localized(LitElement) {
  static properties = {
    provider: {attribute: false},
    asks: {type: Boolean},
    besideForm: {type: Boolean, attribute: 'beside-form'},
    inUse: {attribute: false},
    _models: {state: true},
    _wanted: {state: true},
    _isBusy: {state: true},
    _error: {state: true},
  };

  static styles = [badges, base, buttons, fields, css`
    :host { display: grid; gap: var(--ac-space-3); justify-items: start; grid-template-columns: minmax(0, 1fr); }
    ul { position: relative; display: grid; width: 100%; max-height: min(16rem, 40vh); overflow: auto; border: 1px solid var(--ac-border); border-radius: var(--ac-radius-m); }
    li { display: flex; align-items: center; gap: var(--ac-space-2); padding: var(--ac-space-2) var(--ac-space-3); }
    li + li { border-top: 1px solid var(--ac-border); }
    li code { flex: 1; min-width: 0; overflow-wrap: anywhere; }
    li ac-icon { color: var(--ac-ok); }
    input { width: 100%; }
    .field { display: grid; gap: var(--ac-space-1); width: 100%; }
    .notice { color: var(--ac-text-muted); font-size: var(--ac-text-s); }
    .key { width: 100%; padding: var(--ac-space-4); border: 1px solid var(--ac-border); border-radius: var(--ac-radius-m); }
  `];

  constructor() {
    super();
    this.provider = '';
    this.asks = false;
    /** True if the form for the provider's key is already shown beside this. */
    this.besideForm = false;
    /** The model in use, `provider:model`. */
    this.inUse = '';
    /** @type {string[] | null} */
    this._models = null;
    this._suggested = '';
    this._wanted = '';
    this._isBusy = false;
    /** @type {ApiError | null} */
    this._error = null;
    new Listening(this, () => [chatSetup.subscribe(() => this._onSetup())]);
  }

  firstUpdated() {
    if (this.asks) void this._ask();
  }

  /** Request the list again if it was refused for lack of a key, and one has been confirmed since. */
  _onSetup() {
    if (this._error && chatSetup.listed === this.provider && !this._isBusy) void this._ask();
    this.requestUpdate();
  }

  render() {
    const isNamed = this._models !== null || this._error?.type === 'models_not_listed';
    return html`
      ${this._renderAsk()}
      <div role="status">${this._models ? html`<p class="notice">${t('models.foundModels', {n: this._models.length})}</p>` : nothing}</div>
      ${isNamed && (!this._models || this._models.length > MANY || !this._models.length) ? html`
        <div class="field"><label for="wanted">${t(this._models?.length ? 'models.findModel' : 'models.typeModel')}</label><input id="wanted" type="search" autocomplete="off" spellcheck="false" .value=${this._wanted} @input=${this._onInput} @keydown=${this._onKey}></div>` : nothing}
      ${this._renderError()}
      ${isNamed ? this._renderList() : nothing}`;
  }

  _renderAsk() {
    if (this.asks && this._isBusy) return html`<p class="notice" aria-busy="true">${t('models.loading')}</p>`;
    if (this.asks && !this._error) return nothing;
    return html`<button ?disabled=${this._isBusy} aria-busy=${this._isBusy} @click=${this._ask}><ac-icon name=${this._isBusy ? 'loader-circle' : 'search'}></ac-icon>${t(this._isBusy ? 'models.loading' : this._error ? 'models.again' : 'models.askForModels')}</button>`;
  }

  _renderError() {
    if (!this._error) return nothing;
    if (this._error.type === 'models_not_listed') return html`<p class="notice" role="alert">${t('models.noList')}</p>`;
    if (this._error.type !== 'provider_unauthorized') return html`<ac-setup-error .error=${this._error}></ac-setup-error>`;
    const provider = chatSetup.providers.find((one) => one.provider === this.provider);
    // the key's field shows the refusal
    return this.besideForm || !provider ? nothing : html`<ac-provider-form class="key" .provider=${provider} ?refused=${chatSetup.refused.has(provider.provider)}></ac-provider-form>`;
  }

  _renderList() {
    const shown = this._shown;
    const typed = this._wanted.trim();
    if (!shown.length) return typed ? html`${this._models?.length ? html`<p class="notice">${t('models.noneMatches')}</p>` : nothing}<button @click=${() => this._use(typed)}>${t('models.useTyped', {name: typed})}</button>` : nothing;
    return html`<ul tabindex="0" aria-label=${t('models.models')}>${shown.map((name) => this._renderModel(name))}</ul>`;
  }

  /** @param {string} name */
  _renderModel(name) {
    const isInUse = this.inUse === `${this.provider}:${name}`;
    const isFirst = name === this._suggested;
    return html`
      <li><code>${name}</code>${isFirst ? html`<span class="badge accent">${t('models.suggested')}</span>` : nothing}${isInUse ? html`<ac-icon name="check"></ac-icon>` : nothing}
        <button class="small ${isFirst ? 'primary' : ''}" aria-label=${t('models.useNamed', {name})} @click=${() => this._use(name)}>${t('models.useModel')}</button></li>`;
  }

  /** Matching models: the suggested one first, the others in the provider's order. */
  get _shown() {
    const wanted = this._wanted.trim().toLowerCase();
    const matching = (this._models ?? []).filter((name) => name.toLowerCase().includes(wanted));
    return matching.toSorted((one, other) => Number(other === this._suggested) - Number(one === this._suggested));
  }

  /** @param {InputEvent} event */
  _onInput(event) {
    this._wanted = /** @type {HTMLInputElement} */ (event.target).value;
  }

  /** On Enter, use the only model that is left, or the typed name. @param {KeyboardEvent} event */
  _onKey(event) {
    if (event.key !== 'Enter' || isComposing(event) || !this._wanted.trim()) return;
    const shown = this._shown;
    if (shown.length <= 1) this._use(shown[0] ?? this._wanted.trim());
  }

  async _ask() {
    this._isBusy = true;
    this._error = null;
    try {
      const {models, suggested} = await chatSetup.modelsOf(this.provider);
      this._models = models;
      this._suggested = suggested ?? '';
    } catch (error) {
      this._models = null;
      this._error = /** @type {ApiError} */ (error);
    }
    this._isBusy = false;
  }

  /** @param {string} name */
  _use(name) {
    this.dispatchEvent(new CustomEvent('ac-use-model', {detail: {model: `${this.provider}:${name}`}, bubbles: true, composed: true}));
  }
}
customElements.define('ac-provider-models', AcProviderModels);
