import {LitElement, css, html, nothing} from 'lit';
import {chatSetup} from './setup.js';
import {Localized, t} from '../../base/i18n.js';
import {Listening} from '../../base/listening.js';
import {base, buttons, fields} from '../../ui/styles.js';
import '../../ui/ac-icon.js';
import './ac-setup-error.js';

const MANY = 12;

/** The models that a provider says it has, when a person asks; takes the one that they choose. */
export class AcProviderModels extends Localized(LitElement) {
  static properties = {provider: {attribute: false}, _models: {state: true}, _wanted: {state: true}, _isBusy: {state: true}, _error: {state: true}};

  static styles = [base, buttons, fields, css`
    :host { display: grid; gap: var(--ac-space-3); justify-items: start; }
    ul { display: grid; width: 100%; max-height: 20rem; overflow: auto; border: 1px solid var(--ac-border); border-radius: var(--ac-radius-m); }
    li { display: flex; align-items: center; gap: var(--ac-space-3); padding: var(--ac-space-2) var(--ac-space-3); }
    li + li { border-top: 1px solid var(--ac-border); }
    li code { flex: 1; min-width: 0; overflow-wrap: anywhere; }
    input { width: 100%; }
    .field { display: grid; gap: var(--ac-space-1); width: 100%; }
    .notice { color: var(--ac-text-muted); font-size: var(--ac-text-s); }
  `];

  constructor() {
    super();
    this.provider = '';
    /** @type {string[] | null} */
    this._models = null;
    this._wanted = '';
    this._isBusy = false;
    /** @type {import('../../client/client.js').ApiError | null} */
    this._error = null;
    new Listening(this, () => [chatSetup.subscribe(() => this.requestUpdate())]);
  }

  render() {
    const models = this._models ?? [];
    const shown = models.filter((name) => name.toLowerCase().includes(this._wanted.trim().toLowerCase()));
    return html`
      <button ?disabled=${this._isBusy} aria-busy=${this._isBusy} @click=${this._ask}><ac-icon name=${this._isBusy ? 'loader-circle' : 'search'}></ac-icon>${t(this._isBusy ? 'chat.looking' : 'chat.askForModels')}</button>
      <div role="status">${this._models ? html`<p class="notice">${t('chat.foundModels', {n: models.length})}</p>` : nothing}</div>
      ${models.length > MANY ? html`
        <div class="field"><label for="wanted">${t('chat.findModel')}</label><input id="wanted" type="search" .value=${this._wanted} @input=${this._onInput}></div>` : nothing}
      <ac-setup-error .error=${this._error}></ac-setup-error>
      ${shown.length ? html`<ul tabindex="0" aria-label=${t('chat.models')}>${shown.map((name) => this._renderModel(name))}</ul>` : nothing}`;
  }

  /** @param {string} name */
  _renderModel(name) {
    const isAdded = chatSetup.models.some(({provider, model}) => provider === this.provider && model === name);
    return html`<li><code>${name}</code>${isAdded ? html`<span class="notice">${t('chat.added')}</span>`
      : html`<button class="small primary" aria-label=${`${t('chat.useModel')}: ${name}`} ?disabled=${this._isBusy} @click=${() => this._add(name)}>${t('chat.useModel')}</button>`}</li>`;
  }

  /** @param {InputEvent} event */
  _onInput(event) {
    this._wanted = /** @type {HTMLInputElement} */ (event.target).value;
  }

  _ask() {
    return this._do(async () => { this._models = await chatSetup.modelsOf(this.provider); });
  }

  /** @param {string} name */
  _add(name) {
    return this._do(() => chatSetup.addModel(`${this.provider}:${name}`, {provider: this.provider, model: name}));
  }

  /** @param {() => Promise<void>} work */
  async _do(work) {
    this._isBusy = true;
    this._error = null;
    try {
      await work();
    } catch (error) {
      this._error = /** @type {import('../../client/client.js').ApiError} */ (error);
    }
    this._isBusy = false;
  }
}
customElements.define('ac-provider-models', AcProviderModels);
