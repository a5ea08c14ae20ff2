/** The module's page: which tabs are shared with which chat, and how to share a tab. */
import {LitElement, css, html, nothing} from 'lit';
import {badges, base, buttons, cards, views} from 'agentcore/styles.js';
import {hindrance, stateText, texts} from './texts.js';
import './view.js';

/** @typedef {{resourceId: string, sessionId: string, url: string, title: string, isPaused: boolean, isThere: boolean, browser: string, client: string, done: {callId: string, tool: string, outcome: string, time: number}[]}} SharedTab */

class UserTabsAbout extends LitElement {
  static properties = {
    client: {attribute: false},
    _tabs: {state: true},
    _titles: {state: true},
  };

  static styles = [base, badges, buttons, cards, views, css`
    .card { padding: var(--ac-space-4) var(--ac-space-5); margin-bottom: var(--ac-space-3); overflow-wrap: anywhere; }
    .card p { max-width: 65ch; }
    summary { width: fit-content; margin-top: var(--ac-space-3); cursor: pointer; font-weight: var(--ac-weight-medium); border-radius: var(--ac-radius-s); }
    ol { list-style: decimal; max-width: 65ch; margin: var(--ac-space-2) 0 0; padding-inline-start: 1.25rem; display: grid; gap: var(--ac-space-2); }
    h2, .address { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; line-clamp: 2; overflow: hidden; }
    .tab { display: grid; grid-template-columns: minmax(0, 1fr) max-content; gap: var(--ac-space-1) var(--ac-space-3); align-items: start; }
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
    /** Titles of chats, by id. @type {Map<string, string>} */
    this._titles = new Map();
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
      const [{tabs}, {sessions}] = await Promise.all([this.client.get('state'), this.client.get('/api/sessions/names')]);
      this._titles = new Map(sessions.map((/** @type {{sessionId: string, title: string}} */ {sessionId, title}) => [sessionId, title]));
      this._tabs = tabs;
    } catch {
      // the page shows that the server is unreachable; this loads again once the connection is back
    }
  }

  render() {
    const t = texts(this.client.locale);
    return html`
      <div class="view-head"><h1>${t.title}</h1></div>
      ${this._tabs?.length === 0 ? html`<p class="card muted">${t.none}</p>` : nothing}
      ${this._tabs?.map((tab) => this._renderTab(tab))}
      <div class="card"><p>${t.about}</p>
        ${this._tabs ? html`<details ?open=${this._tabs.length === 0}><summary>${t.howTitle}</summary><ol>${t.steps.map((step) => html`<li>${step}</li>`)}</ol></details>` : nothing}
      </div>`;
  }

  /** @param {SharedTab} tab */
  _renderTab(tab) {
    const t = texts(this.client.locale);
    const why = hindrance(tab, this.client.locale);
    const title = this._titles.get(tab.sessionId);
    return html`
      <section class="card tab">
        <h2 title=${tab.title}>${tab.title || tab.url}</h2>
        <span class="badge ${why ? 'warn' : 'ok'}">${stateText(tab, this.client.locale)}</span>
        <p class="rest address" title=${tab.url}>${tab.url}</p>
        ${why ? html`<p class="rest">${why}</p>` : nothing}
        ${title ? html`<p class="rest">${t.with(title)}</p>` : nothing}
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
