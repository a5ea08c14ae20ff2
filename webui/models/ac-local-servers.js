import {LitElement, css, html, nothing} from 'lit';
import {chatSetup} from './setup.js';
import {Localized, t} from '../base/i18n.js';
import {Listening} from '../base/listening.js';
import {base, buttons} from '../ui/styles.js';
import '../ui/ac-icon.js';
import {toConfirmation} from './ac-setup-error.js';

/** Looks for model servers on this machine when a person asks, and takes the model that they choose. */
export class AcLocalServers extends Localized(LitElement) {
  static properties = {_found: {state: true}, _isLooking: {state: true}, _adding: {state: true}, _error: {state: true}};

  static styles = [base, buttons, css`
    :host { display: grid; gap: var(--ac-space-3); justify-items: start; }
    ul { display: grid; gap: var(--ac-space-2); width: 100%; }
    li { display: flex; align-items: center; gap: var(--ac-space-3); padding: var(--ac-space-2) var(--ac-space-3); border: 1px solid var(--ac-border); border-radius: var(--ac-radius-m); }
    li > span { flex: 1; min-width: 0; overflow-wrap: anywhere; }
    li small { display: block; color: var(--ac-text-muted); font-size: var(--ac-text-s); }
    .notice { color: var(--ac-text-muted); font-size: var(--ac-text-s); }
  `];

  constructor() {
    super();
    /** @type {import('./setup.js').LocalServer[] | null} */
    this._found = null;
    /** @type {string[]} */
    this._looked = [];
    this._isLooking = false;
    this._adding = '';
    /** @type {import('../client/client.js').ApiError | null} */
    this._error = null;
    new Listening(this, () => [chatSetup.subscribe(() => this.requestUpdate())]);
  }

  render() {
    const models = (this._found ?? []).flatMap(({kind, baseUrl, models: names}) => names.map((name) => ({kind, baseUrl, name})));
    return html`
      <button ?disabled=${this._isLooking} aria-busy=${this._isLooking} @click=${this._look}><ac-icon name=${this._isLooking ? 'loader-circle' : 'search'}></ac-icon>${t(this._isLooking ? 'models.looking' : 'models.look')}</button>
      <div role="status">${this._found === null ? nothing : this._renderOutcome(models.length)}</div>
      ${models.length ? html`<ul>${models.map((model) => this._renderModel(model))}</ul>` : nothing}
      <ac-setup-error .error=${this._error}></ac-setup-error>`;
  }

  /** @param {number} count */
  _renderOutcome(count) {
    if (count) return html`<p class="notice">${t('models.foundModels', {n: count})}</p>`;
    if (this._found?.length) return html`<p class="notice">${t('models.foundNoModels', {server: labelOf(this._found[0].kind)})}</p>`;
    return html`<p class="notice">${t('models.foundNothing', {looked: this._looked.join(', ')})}</p>`;
  }

  /** @param {{kind: string, baseUrl: string, name: string}} model */
  _renderModel(model) {
    const isAdded = chatSetup.models.some(({name, baseUrl}) => name === model.name && baseUrl === model.baseUrl);
    return html`
      <li><span>${model.name}<small>${labelOf(model.kind)} · ${model.baseUrl}</small></span>
        <button class="small primary" aria-label=${t('models.useNamed', {name: model.name})} ?disabled=${this._adding !== ''} @click=${() => (isAdded ? this._use(model.name) : this._add(model))}>${t('models.useModel')}</button></li>`;
  }

  /** A server that is found is used by one click: to show this is to ask for it. */
  firstUpdated() {
    void this._look();
  }

  /** @param {string} model */
  _use(model) {
    this.dispatchEvent(new CustomEvent('ac-use-model', {detail: {model}, bubbles: true, composed: true}));
  }

  async _look() {
    this._isLooking = true;
    this._error = null;
    try {
      const {found, looked} = await chatSetup.lookForServers();
      this._looked = looked;
      this._found = found;
    } catch (error) {
      this._error = /** @type {import('../client/client.js').ApiError} */ (error);
    }
    this._isLooking = false;
  }

  /** @param {{kind: string, baseUrl: string, name: string}} model */
  async _add({baseUrl, name}) {
    this._adding = name;
    this._error = null;
    try {
      await chatSetup.addModel(name, {model: name, baseUrl});
    } catch (error) {
      this._error = /** @type {import('../client/client.js').ApiError} */ (error);
      toConfirmation(this, this._error);
    }
    this._adding = '';
  }
}
/** @param {string} kind */
function labelOf(kind) {
  return chatSetup.localServers.find((place) => place.kind === kind)?.label ?? kind;
}

customElements.define('ac-local-servers', AcLocalServers);
