import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../base/i18n.js';
import {Listening} from '../base/subscriptions.js';
import {ModuleClient} from './module-client.js';
import {isErrorOf, loadElement} from './module-elements.js';
import {base, buttons} from '../ui/styles.js';
import '../ui/ac-error-card.js';

/**
 * Container for a module's own element, which is loaded on first use and replaced when the module is reloaded. Errors that it
 * throws, now or later, are shown as a card here, and the page keeps working.
 */
export class AcModuleFrame extends Localized(LitElement) {
  static properties = {
    module: {attribute: false},
    tag: {},
    resourceId: {attribute: false},
    host: {},
    _error: {state: true},
    _element: {state: true},
  };

  static styles = [base, buttons, css`
    :host { display: flex; flex-direction: column; min-height: 100%; }
    /* what the module positions stays inside of its frame */
    .element { flex: 1 0 auto; contain: layout; }
    ac-error-card { margin: var(--ac-space-4); }
    .loading { padding: var(--ac-space-6); color: var(--ac-text-muted); }
  `];

  constructor() {
    super();
    /** @type {import('../client/module-list.js').Module | null} ready, with a component */
    this.module = null;
    this.tag = '';
    this.resourceId = '';
    /** The host on another machine that runs the resource. */
    this.host = '';
    /** @type {unknown} */
    this._error = null;
    /** @type {HTMLElement | null} */
    this._element = null;
    /** @type {ModuleClient | null} */
    this._client = null;
    this._loaded = '';
    new Listening(this, () => this._watchErrors());
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (!['module', 'tag', 'resourceId', 'host'].some((name) => changed.has(name))) return;
    const {name, readyAt} = this.module ?? {};
    const wanted = `${name} ${readyAt} ${this.tag} ${this.resourceId} ${this.host}`;
    if (wanted === this._loaded || !this.module?.component) return;
    this._loaded = wanted;
    void this._load(wanted);
  }

  disconnectedCallback() {
    this._drop();
    this._loaded = '';
    super.disconnectedCallback();
  }

  render() {
    const hasContent = Boolean(this._element?.shadowRoot?.childElementCount || this._element?.childNodes.length);
    return html`
      <ac-waiting for=${this._client?.waits.wait ?? ''}></ac-waiting>
      ${this._error ? this._failed() : nothing}
      ${this._element ? html`<div class="element" ?hidden=${Boolean(this._error) && !hasContent}>${this._element}</div>` : nothing}
      ${this._element || this._error ? nothing : html`<p class="loading" role="status">${t('modules.pageLoading')}</p>`}`;
  }

  _failed() {
    const error = /** @type {any} */ (this._error);
    return html`
      <ac-error-card heading=${t('modules.pageFailed')} .error=${error} .details=${error?.stack ?? ''}>
        <p slot="hint">${t('modules.pageFailedHint')}</p>
        <button slot="actions" @click=${this._again}>${t('modules.pageAgain')}</button>
        ${this._element ? html`<button slot="actions" class="quiet" @click=${() => { this._error = null; }}>${t('ui.dismiss')}</button>` : nothing}
      </ac-error-card>`;
  }

  _again() {
    void this._load(this._loaded);
  }

  /** @param {string} wanted */
  async _load(wanted) {
    this._error = null;
    const module = /** @type {import('../client/module-list.js').Module} */ (this.module);
    try {
      const tag = await loadElement(module, this.tag);
      if (wanted !== this._loaded) return; // superseded by a later request
      this._drop();
      this._client = new ModuleClient(module.name, this.host);
      this._client.waits.subscribe(() => this.requestUpdate());
      const element = document.createElement(tag);
      this._element = Object.assign(element, {client: this._client, ...(this.resourceId ? {resourceId: this.resourceId} : {})});
    } catch (error) {
      if (wanted === this._loaded) this._error = error;
    }
  }

  _drop() {
    this._client?.close();
    this._client = null;
    this._element = null;
  }

  /** Watch errors of event handlers, timers and promises, which reach the window only; the URLs in them identify the module. */
  _watchErrors() {
    /** @param {ErrorEvent | PromiseRejectionEvent} event */
    const take = (event) => {
      if (!this.module || !isErrorOf(this.module.name, event)) return;
      this._error ??= ('reason' in event ? event.reason : event.error) ?? new Error('unknown');
    };
    window.addEventListener('error', take);
    window.addEventListener('unhandledrejection', take);
    return [() => window.removeEventListener('error', take), () => window.removeEventListener('unhandledrejection', take)];
  }
}

customElements.define('ac-module-frame', AcModuleFrame);
