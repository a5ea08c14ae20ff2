/** The module's page: what is shared, with which chat, and how a tab is shared. */
import {LitElement, css, html, nothing} from 'lit';
import {badges, base, buttons, cards, views} from 'agentcore/styles.js';
import {stateText, texts} from './texts.js';
import './view.js';

/** @typedef {{resourceId: string, sessionId: string, url: string, title: string, isPaused: boolean, isThere: boolean, browser: string, client: string}} SharedTab */

class UserTabsAbout extends LitElement {
  static properties = {client: {attribute: false}, _tabs: {state: true}};

  static styles = [base, badges, buttons, cards, views, css`
    .card { padding: var(--ac-space-4) var(--ac-space-5); margin-bottom: var(--ac-space-3); overflow-wrap: anywhere; }
    .card p { max-width: 65ch; }
    .card p + p { margin-top: var(--ac-space-3); }
    .tab { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: var(--ac-space-1) var(--ac-space-3); align-items: start; }
    .tab h2 { font-size: var(--ac-text-m); letter-spacing: 0; }
    .tab .rest { grid-column: 1 / -1; color: var(--ac-text-muted); font-size: var(--ac-text-s); }
    .actions { display: flex; flex-wrap: wrap; gap: var(--ac-space-2); grid-column: 1 / -1; margin-top: var(--ac-space-2); }
  `];

  constructor() {
    super();
    /** @type {any} */
    this.client = null;
    /** @type {SharedTab[] | null} */
    this._tabs = null;
  }

  connectedCallback() {
    super.connectedCallback();
    this.client.on('user_tabs.changed', () => void this._load());
    this.client.on('connection', (/** @type {string} */ state) => { if (state === 'open') void this._load(); });
    this.client.on('locale', () => this.requestUpdate());
    void this._load();
  }

  async _load() {
    try {
      this._tabs = (await this.client.get('state')).tabs;
    } catch {
      // the page shows that the server is away; its return loads this again
    }
  }

  render() {
    const t = texts(this.client.locale);
    return html`
      <div class="view-head"><h1>${t.title}</h1></div>
      <div class="card"><p>${t.about}</p><p>${t.how}</p></div>
      ${this._tabs?.map((tab) => this._renderTab(tab))}
      ${this._tabs?.length === 0 ? html`<p class="card">${t.none}</p>` : nothing}`;
  }

  /** @param {SharedTab} tab */
  _renderTab(tab) {
    const t = texts(this.client.locale);
    const isReady = tab.isThere && !tab.isPaused;
    return html`
      <section class="card tab">
        <h2>${tab.title || tab.url}</h2>
        <span class="badge ${isReady ? 'ok' : 'warn'}">${stateText(tab, this.client.locale)}</span>
        <p class="rest">${tab.url}</p>
        <p class="rest">${t.by(tab.client, tab.browser)}</p>
        <div class="actions">
          <a class="button" href="#/chats/${encodeURIComponent(tab.sessionId)}">${t.chat}</a>
          <button class="danger" @click=${() => this._end(tab)}>${t.end}</button>
        </div>
      </section>`;
  }

  /** @param {SharedTab} tab */
  async _end({resourceId}) {
    try {
      await this.client.fetch(`/api/resources/${encodeURIComponent(resourceId)}`, {method: 'DELETE'});
    } catch (error) {
      this.client.toast(texts(this.client.locale).endFailed, /** @type {Error} */ (error).message);
    }
    await this._load();
  }
}

customElements.define('user-tabs-about', UserTabsAbout);
