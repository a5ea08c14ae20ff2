import {LitElement, css, html, nothing} from 'lit';
import {chatSetup} from './setup.js';
import {Localized, t} from '../base/i18n.js';
import {Listening} from '../base/subscriptions.js';
import {client} from '../client/client.js';
import {base, buttons} from '../ui/styles.js';
import '../ui/ac-icon.js';
import {toConfirmation} from './ac-setup-error.js';
import './ac-provider-form.js';

const LOOK_EVERY_MS = 3000;
const NAMED = 3;

/** @typedef {import('./setup.js').LocalServer} LocalServer */

/**
 * Model servers that run on this machine, with their models. Polled while this is shown, so that a server that is started
 * later appears automatically.
 * @fires ac-use-model {model: string}
 */
export class AcLocalServers extends Localized(LitElement) {
  static properties = {
    _found: {state: true},
    _adding: {state: true},
    _keyFor: {state: true},
    _error: {state: true},
  };

  static styles = [base, buttons, css`
    :host { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-3); }
    .notice { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: var(--ac-space-3); align-items: start; color: var(--ac-text-muted); text-wrap: pretty; }
    .notice ac-icon { margin-top: 0.15rem; }
    .server { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-2); }
    .server p { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 var(--ac-space-2); }
    .server p span { color: var(--ac-text-muted); font-size: var(--ac-text-s); overflow-wrap: anywhere; }
    .server button { justify-self: start; }
    .server .none { color: var(--ac-text-muted); font-size: var(--ac-text-s); }
    ul { display: grid; position: relative; max-height: min(17rem, 40vh); overflow: auto; border: 1px solid var(--ac-border); border-radius: var(--ac-radius-m); }
    li { display: flex; align-items: center; gap: var(--ac-space-3); padding: var(--ac-space-2) var(--ac-space-3); }
    li + li { border-top: 1px solid var(--ac-border); }
    li code { flex: 1; min-width: 0; overflow-wrap: anywhere; }
  `];

  constructor() {
    super();
    /** @type {LocalServer[] | null} */
    this._found = null;
    this._adding = '';
    /** Address of the server whose key is being entered. */
    this._keyFor = '';
    /** @type {import('../client/client.js').ApiError | null} */
    this._error = null;
    this._isLooking = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this._timer = undefined;
    new Listening(this, () => {
      const onVisible = () => void this._look();
      document.addEventListener('visibilitychange', onVisible);
      return [chatSetup.subscribe(() => this.requestUpdate()), client.on('connection', onVisible), () => document.removeEventListener('visibilitychange', onVisible)];
    });
  }

  connectedCallback() {
    super.connectedCallback();
    void this._look();
  }

  disconnectedCallback() {
    clearTimeout(this._timer);
    super.disconnectedCallback();
  }

  render() {
    return html`
      <div role="status">${this._found?.length ? html`<span class="visually-hidden">${this._outcome(this._found)}</span>` : this._renderNothing()}</div>
      ${(this._found ?? []).map((server) => this._renderServer(server))}
      <ac-setup-error .error=${this._error}></ac-setup-error>`;
  }

  /** @param {LocalServer[]} found */
  _outcome(found) {
    const models = found.reduce((sum, server) => sum + (server.needsKey ? 0 : server.models.length), 0);
    return models ? t('models.foundModels', {n: models}) : t(found[0].needsKey ? 'models.lockedServer' : 'models.foundNoModels', {server: labelOf(found[0].kind)});
  }

  _renderNothing() {
    const servers = chatSetup.localServers.slice(0, NAMED).map(({label}) => label).join(', ');
    return html`<p class="notice"><ac-icon name="loader-circle"></ac-icon><span>${t(this._found ? 'models.foundNothing' : 'models.looking', {servers})}</span></p>`;
  }

  /** @param {LocalServer} server */
  _renderServer({kind, baseUrl, models, needsKey, provider}) {
    const id = `server-${baseUrl}`;
    return html`
      <section class="server" aria-labelledby=${id}>
        <p><strong id=${id}>${labelOf(kind)}</strong><span>${baseUrl}</span></p>
        ${needsKey ? this._renderKey(kind, baseUrl) : models.length
          ? html`<ul tabindex=${models.length > 5 ? 0 : nothing} aria-labelledby=${id}>${models.map((name, index) => this._renderModel(name, baseUrl, provider, index === 0))}</ul>`
          : html`<p class="none">${t('models.foundNoModels', {server: labelOf(kind)})}</p>`}
      </section>`;
  }

  /** @param {string} kind @param {string} baseUrl */
  _renderKey(kind, baseUrl) {
    const provider = chatSetup.newProvider(kind);
    return html`
      <p class="none">${t('models.lockedServer', {server: labelOf(kind)})}</p>
      ${this._keyFor === baseUrl && provider
        ? html`<ac-provider-form .provider=${provider} .address=${baseUrl}></ac-provider-form>`
        : html`<button class="small" @click=${() => { this._keyFor = baseUrl; }}><ac-icon name="key"></ac-icon>${t('models.enterKey')}</button>`}`;
  }

  /** @param {string} name @param {string} baseUrl @param {string | null} provider @param {boolean} isFirst */
  _renderModel(name, baseUrl, provider, isFirst) {
    if (provider) return this._renderUse(name, isFirst, () => this._use(`${provider}:${name}`));
    const isAdded = chatSetup.models.some((model) => model.name === name && model.baseUrl === baseUrl);
    return this._renderUse(name, isFirst, () => (isAdded ? this._use(name) : this._add(name, baseUrl)));
  }

  /** @param {string} name @param {boolean} isFirst @param {() => void} use */
  _renderUse(name, isFirst, use) {
    return html`
      <li><code>${name}</code>
        <button class="small ${isFirst ? 'primary' : ''}" aria-label=${t('models.useNamed', {name})} ?disabled=${this._adding !== ''} @click=${use}>${t('models.useModel')}</button></li>`;
  }

  /** @param {string} model */
  _use(model) {
    this.dispatchEvent(new CustomEvent('ac-use-model', {detail: {model}, bubbles: true, composed: true}));
  }

  /** Check now, and again after a while, because a server may be started meanwhile. */
  async _look() {
    clearTimeout(this._timer);
    if (this._isLooking || document.hidden || !this.isConnected) return;
    this._isLooking = true;
    if (client.connection === 'open') await this._ask();
    this._isLooking = false;
    if (this.isConnected) this._timer = setTimeout(() => void this._look(), LOOK_EVERY_MS);
  }

  async _ask() {
    try {
      const {found} = await chatSetup.lookForServers();
      if (JSON.stringify(found) !== JSON.stringify(this._found)) this._found = found;
    } catch {
      // the page shows whether the server responds; the next poll tries again
    }
  }

  /** @param {string} name @param {string} baseUrl */
  async _add(name, baseUrl) {
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
