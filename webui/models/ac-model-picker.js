import {LitElement, css, html, nothing} from 'lit';
import {keyed} from 'lit/directives/keyed.js';
import {chatSetup} from './setup.js';
import {Localized, inLocale, t} from '../base/i18n.js';
import {Listening} from '../base/subscriptions.js';
import {base, buttons} from '../ui/styles.js';
import '../ui/ac-icon.js';
import './ac-chat-providers.js';
import './ac-provider-models.js';

/**
 * Picker for the models that are available now: those in app.json, and those of every provider that has a key or an address.
 * If there are none, it shows how to set one up.
 * @fires ac-use-model {model: string}
 * @fires ac-open-providers
 */
export class AcModelPicker extends Localized(LitElement) {
  static properties = {inUse: {attribute: false}};

  static styles = [base, buttons, css`
    :host { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-4); text-align: start; }
    section { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-2); }
    h3 { font-size: var(--ac-text-s); font-weight: var(--ac-weight-medium); color: var(--ac-text-muted); }
    ul { display: grid; border: 1px solid var(--ac-border); border-radius: var(--ac-radius-m); }
    li { display: flex; align-items: center; gap: var(--ac-space-2); padding: var(--ac-space-2) var(--ac-space-3); }
    li + li { border-top: 1px solid var(--ac-border); }
    li code { flex: 1; min-width: 0; overflow-wrap: anywhere; }
    .another { justify-self: start; }
  `];

  constructor() {
    super();
    /** Name of the model in use, which need not be offered. */
    this.inUse = '';
    new Listening(this, () => [chatSetup.subscribe(() => this.requestUpdate())]);
  }

  render() {
    const {providers, models} = chatSetup;
    const usable = models.filter(({isUsable, name}) => isUsable && name !== this.inUse);
    const reachable = providers.filter(({isSetUp}) => isSetUp);
    if (!usable.length && !reachable.length) return html`<ac-chat-providers></ac-chat-providers>`;
    return html`
      ${usable.length ? html`<section><h3>${t('models.own')}</h3><ul>${usable.map(({name}) => this._renderOwn(name))}</ul></section>` : nothing}
      ${reachable.map((provider) => this._renderProvider(provider))}
      <button class="another quiet small" @click=${() => this._fire('ac-open-providers', {})}><ac-icon name="key"></ac-icon>${t('models.another')}</button>`;
  }

  /** @param {string} name */
  _renderOwn(name) {
    return html`<li><code>${name}</code><button class="small" aria-label=${t('models.useNamed', {name})} @click=${() => this._fire('ac-use-model', {model: name})}>${t('models.useModel')}</button></li>`;
  }

  /** @param {import('./setup.js').Provider} given */
  _renderProvider({provider, label, baseUrl}) {
    return html`
      <section><h3>${t('models.modelsOf', {provider: provider === 'openai' && baseUrl ? baseUrl : inLocale(label) ?? provider})}</h3>
        ${keyed(`${provider} ${baseUrl}`, html`<ac-provider-models asks .provider=${provider} .inUse=${this.inUse}></ac-provider-models>`)}</section>`;
  }

  /** @param {string} name @param {object} detail */
  _fire(name, detail) {
    this.dispatchEvent(new CustomEvent(name, {detail, bubbles: true, composed: true}));
  }
}
customElements.define('ac-model-picker', AcModelPicker);
