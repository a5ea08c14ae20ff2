/** The pages of chats: a list, and a live view of each. */
import {LitElement, css, html} from 'lit';
import {badges, base, buttons, cards, views} from 'agentcore/styles.js';
import {LivePage} from './live-page.js';
import {textsFor} from './texts.js';

/** The view of one page, as opened in the tab strip. */
class BrowserPageView extends LivePage {}

class BrowserPanel extends LitElement {
  static properties = {
    client: {attribute: false},
    _pages: {state: true},
  };

  static styles = [base, buttons, badges, cards, views, css`
    li { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-2) var(--ac-space-3); padding: var(--ac-space-3) var(--ac-space-4); }
    li + li { border-top: 1px solid var(--ac-border); }
    .names { flex: 1 1 14rem; min-width: 0; }
    .names p { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    .none { padding: var(--ac-space-7) var(--ac-space-4); text-align: center; }
  `];

  constructor() {
    super();
    /** @type {any} */
    this.client = null;
    /** @type {any[] | null} */
    this._pages = null;
  }

  connectedCallback() {
    super.connectedCallback();
    this.client.on('locale', () => this.requestUpdate());
    this.client.on('browser.changed', () => void this._load());
    this.client.on('events.reset', () => void this._load());
    void this._load();
  }

  async _load() {
    try {
      this._pages = (await this.client.get('pages')).pages;
    } catch (error) {
      this.client.toast(textsFor(this.client).failed, error);
    }
  }

  render() {
    const texts = textsFor(this.client);
    return html`
      <div class="view-head"><div class="titles"><h1>${texts.pages}</h1><p class="muted">${texts.pagesAbout}</p></div></div>
      ${this._pages?.length ? html`<ul class="card">${this._pages.map((page) => this._row(texts, page))}</ul>` : html`
        <div class="card none" ?hidden=${this._pages === null}><h2>${texts.noPage}</h2><p class="muted">${texts.noPageText}</p></div>`}`;
  }

  /** @param {ReturnType<typeof textsFor>} texts @param {any} page */
  _row(texts, page) {
    const name = page.title || page.lastUrl || page.resourceId;
    const states = /** @type {Record<string, string>} */ (texts.state);
    return html`
      <li>
        <div class="names"><p><strong>${name}</strong></p><p class="muted small">${page.lastUrl ?? ''}</p></div>
        <span class="badge ${page.state === 'failed' ? 'danger' : page.state === 'driven' ? 'accent' : ''}">${states[page.state] ?? page.state}</span>
        <button class="small" aria-label=${`${texts.open}: ${name}`} @click=${() => this.client.navigate(`/pages/browser/${page.resourceId}`)}>${texts.open}</button>
        <button class="small quiet icon" aria-label=${`${texts.closePage}: ${name}`} @click=${() => this._close(page)}><ac-icon name="x"></ac-icon></button>
      </li>`;
  }

  /** @param {any} page */
  async _close({resourceId}) {
    try {
      await this.client.fetch(`/api/resources/${encodeURIComponent(resourceId)}`, {method: 'DELETE'});
    } catch (error) {
      this.client.toast(textsFor(this.client).failed, error);
    }
    await this._load();
  }
}

customElements.define('browser-page-view', BrowserPageView);
customElements.define('browser-panel', BrowserPanel);
