import {LitElement, css, html, nothing} from 'lit';
import {keyed} from 'lit/directives/keyed.js';
import {chatSetup} from './setup.js';
import {Localized, inLocale, t} from '../base/i18n.js';
import {Listening} from '../base/subscriptions.js';
import {badges, base, buttons, fields} from '../ui/styles.js';
import '../ui/ac-icon.js';
import './ac-local-servers.js';
import './ac-provider-form.js';
import './ac-provider-models.js';

/** Sources of models: keys of providers and servers on this machine; and the models that are already configured. */
export class AcChatProviders extends Localized(LitElement) {
  static properties = {_shown: {state: true}, _new: {state: true}};

  static styles = [base, badges, buttons, fields, css`
    :host { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-5); }
    .tabs { display: inline-flex; flex-wrap: wrap; justify-self: start; padding: 2px; gap: 2px; border-radius: var(--ac-radius-m); background: var(--ac-surface-sunken); border: 1px solid var(--ac-border); }
    .tabs button { min-height: 1.75rem; border: 0; background: none; box-shadow: none; color: var(--ac-text-muted); border-radius: calc(var(--ac-radius-m) - 2px); }
    .tabs button[aria-pressed="true"] { background: var(--ac-surface-raised); color: var(--ac-text); box-shadow: var(--ac-shadow-s); }
    .which { display: flex; flex-wrap: wrap; gap: var(--ac-space-2); align-items: center; }
    .which select { max-width: 100%; }
    section { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-3); }
    section + section { padding-top: var(--ac-space-5); border-top: 1px solid var(--ac-border); }
    h2 { display: flex; align-items: center; gap: var(--ac-space-2); font-size: var(--ac-text-m); }
    h2 ac-icon { color: var(--ac-text-muted); }
    .models li { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-1) var(--ac-space-2); padding-block: var(--ac-space-2); border-top: 1px solid var(--ac-border); }
    .models code { flex: 1; overflow-wrap: anywhere; }
    .models p { width: 100%; color: var(--ac-text-muted); font-size: var(--ac-text-s); overflow-wrap: anywhere; }
  `];

  constructor() {
    super();
    this._shown = '';
    this._key = '';
    /** A provider that is being added. @type {import('./setup.js').Provider | null} */
    this._new = null;
    new Listening(this, () => [chatSetup.subscribe(() => this._onSetup())]);
  }

  /** Show the provider whose key or address has just been stored. */
  _onSetup() {
    if (this._new && chatSetup.providers.some(({provider}) => provider === chatSetup.listed)) {
      this._new = null;
      this._shown = chatSetup.listed;
    }
    this.requestUpdate();
  }

  render() {
    const shown = this._shown || chatSetup.listed || chatSetup.usable[0]?.provider || chatSetup.providers[0]?.provider || '';
    const provider = this._new ?? chatSetup.providers.find((one) => one.provider === shown);
    return html`
      <section aria-labelledby="local"><h2 id="local"><ac-icon name="server"></ac-icon>${t('models.local')}</h2><ac-local-servers></ac-local-servers></section>
      <section aria-labelledby="keys" @ac-provider=${this._onProvider}>
        <h2 id="keys"><ac-icon name="key"></ac-icon>${t('models.withKey')}</h2>
        <div class="which">
          <div class="tabs" role="group" aria-label=${t('models.providers')}>${chatSetup.providers.map((one) => this._renderTab(one.provider, inLocale(one.label), this._new ? '' : shown))}</div>
          ${this._renderAdd()}
        </div>
        ${provider ? html`<ac-provider-form .provider=${provider} .enteredKey=${this._key} ?refused=${chatSetup.refused.has(provider.provider)}></ac-provider-form>${this._renderModelsOf(provider)}` : nothing}
      </section>
      ${chatSetup.models.length ? html`<section class="models" aria-labelledby="models"><h2 id="models">${t('models.models')}</h2><ul>${chatSetup.models.map((model) => this._renderModel(model))}</ul></section>` : nothing}`;
  }

  /** Switch to the form of another provider, whose key was entered. @param {CustomEvent<{provider: string, key: string}>} event */
  _onProvider({detail: {provider, key}}) {
    const isKnown = chatSetup.providers.some((one) => one.provider === provider);
    this._new = isKnown ? null : chatSetup.newProvider(provider);
    this._shown = isKnown ? provider : '';
    this._key = key;
  }

  updated() {
    this._key = ''; // the form has received it
  }

  /** @param {string} id @param {string | undefined} label @param {string} shown */
  _renderTab(id, label, shown) {
    return html`<button aria-pressed=${id === shown} @click=${() => { this._shown = id; this._new = null; this._key = ''; }}>${label}</button>`;
  }

  _renderAdd() {
    const [local, remote] = [true, false].map((wanted) => chatSetup.services.filter(({isLocal}) => isLocal === wanted));
    const options = (/** @type {import('./setup.js').Service[]} */ services) => services.map(({service, label}) => html`<option value=${service} ?selected=${service === this._new?.service}>${inLocale(label)}</option>`);
    return html`
      <select aria-label=${t('models.addProvider')} @change=${this._onAdd}>
        <option value="" ?selected=${!this._new}>${t('models.addProvider')}</option>
        ${options(remote)}
        <optgroup label=${t('models.local')}>${options(local)}</optgroup>
      </select>`;
  }

  /** @param {Event} event */
  _onAdd({target}) {
    this._new = chatSetup.newProvider(/** @type {HTMLSelectElement} */ (target).value);
    this._key = '';
  }

  /** Render the models of a provider; keyed by its address, so that a late response never appears at another one. @param {import('./setup.js').Provider} given */
  _renderModelsOf({provider, baseUrl, isSetUp}) {
    if (!isSetUp) return nothing;
    const asks = chatSetup.listed === provider;
    return keyed(`${provider} ${baseUrl} ${asks}`, html`<ac-provider-models beside-form ?asks=${asks} .provider=${provider}></ac-provider-models>`);
  }

  /** @param {import('./setup.js').Model} model */
  _renderModel({name, isUsable, hint, baseUrl}) {
    return html`
      <li><code>${name}</code><span class="badge ${isUsable ? 'ok' : 'warn'}">${t(isUsable ? 'models.usable' : 'models.notUsable')}</span>
        ${hint && !isUsable ? html`<p>${hint}</p>` : baseUrl ? html`<p>${baseUrl}</p>` : nothing}</li>`;
  }
}
customElements.define('ac-chat-providers', AcChatProviders);
