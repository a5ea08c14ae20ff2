/** All browsers with their tabs, and a live view of the selected tab. */
import {LitElement, css, html, nothing} from 'lit';
import {badges, base, buttons, cards, fields, views} from 'agentcore/styles.js';
import {LivePage} from './live-page.js';
import {textsFor} from './texts.js';

/** The live view of one tab. */
class ChromeTabView extends LivePage {
  static properties = {
    ...LivePage.properties,
    tab: {attribute: false},
  };

  constructor() {
    super();
    /** @type {any} */
    this.tab = null;
  }

  /** @param {string} url @returns {[string, Record<string, unknown>]} */
  visit(url) {
    if (this.tab && this.tab.owner !== 'chrome') return ['browser_navigate', {resourceId: this.tab.resourceId, url}];
    return ['chrome_navigate', {tabId: this.tab?.tabId ?? this._state?.tabId, url}];
  }
}

class ChromePanel extends LitElement {
  static properties = {
    client: {attribute: false},
    _browsers: {state: true},
    _chosen: {state: true},
    _busy: {state: true},
  };

  static styles = [base, buttons, badges, cards, fields, views, css`
    :host { max-width: none; }
    .columns { display: grid; grid-template-columns: minmax(16rem, 24rem) minmax(0, 1fr); gap: var(--ac-space-4); align-items: start; }
    .browsers { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-4); }
    .head { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-2); padding: var(--ac-space-3) var(--ac-space-4); }
    .head .names { flex: 1; min-width: 8rem; }
    .tab { display: flex; align-items: center; gap: var(--ac-space-1); padding: 0 var(--ac-space-2); border-top: 1px solid var(--ac-border); }
    .tab > button:first-child { flex: 1; min-width: 0; display: block; height: auto; padding: var(--ac-space-2); text-align: start; line-height: var(--ac-line); }
    .tab button p { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-weight: normal; }
    .tab button p:first-child { font-weight: var(--ac-weight-medium); }
    .tab.chosen, .tab.chosen > button:first-child { background: var(--ac-accent-soft); }
    .note { padding: var(--ac-space-2) var(--ac-space-4) var(--ac-space-3); border-top: 1px solid var(--ac-border); }
    .view { position: relative; overflow: hidden; }
    .view.live { height: min(46rem, 75dvh); }
    .none { padding: var(--ac-space-7) var(--ac-space-4); text-align: center; }
    @media (max-width: 60rem) { .columns { grid-template-columns: minmax(0, 1fr); } }
  `];

  constructor() {
    super();
    /** @type {any} */
    this.client = null;
    /** @type {any[] | null} */
    this._browsers = null;
    this._chosen = '';
    this._busy = false;
    this._isLoading = false;
    this._isStale = false;
  }

  connectedCallback() {
    super.connectedCallback();
    this.client.on('locale', () => this.requestUpdate());
    this.client.on('chrome.*', () => void this._load());
    this.client.on('events.reset', () => void this._load());
    void this._load();
  }

  /** Load the running browsers; changes that arrive meanwhile cause another load. */
  async _load() {
    this._isStale = true;
    if (this._isLoading) return;
    this._isLoading = true;
    while (this._isStale) {
      this._isStale = false;
      try {
        this._browsers = (await this.client.get('browsers')).browsers;
      } catch (error) {
        this.client.toast(textsFor(this.client).failed, error);
      }
    }
    this._isLoading = false;
    if (!this._tabs.some(({tabId}) => tabId === this._chosen)) this._chosen = '';
  }

  get _tabs() {
    return (this._browsers ?? []).flatMap(({tabs}) => tabs);
  }

  render() {
    const texts = textsFor(this.client);
    return html`
      <div class="view-head">
        <div class="titles"><h1>${texts.browsers}</h1><p class="muted">${texts.browsersAbout}</p></div>
        <div class="actions">
          <button class="primary" ?disabled=${this._busy} @click=${() => this._call('chrome_launch', {})}>
            <ac-icon name=${this._busy ? 'loader-circle' : 'plus'}></ac-icon> ${texts.launch}
          </button>
        </div>
      </div>
      ${this._browsers?.length ? this._columns(texts, this._browsers) : html`
        <div class="card none" ?hidden=${this._browsers === null}><h2>${texts.noBrowser}</h2><p class="muted">${texts.noBrowserText}</p></div>`}`;
  }

  /** @param {ReturnType<typeof textsFor>} texts @param {any[]} browsers */
  _columns(texts, browsers) {
    const chosen = this._tabs.find(({tabId}) => tabId === this._chosen);
    return html`
      <div class="columns">
        <div class="browsers">${browsers.map((browser) => this._browser(texts, browser))}</div>
        <div class="card view ${chosen ? 'live' : ''}">
          ${chosen ? html`<chrome-tab-view .client=${this.client} .target=${chosen.tabId} .tab=${chosen}></chrome-tab-view>` : html`<p class="none muted">${texts.chooseTab}</p>`}
        </div>
      </div>`;
  }

  /** @param {ReturnType<typeof textsFor>} texts @param {any} browser */
  _browser(texts, browser) {
    const {browserId, tabs, pid, memoryBytes, version, isShared, isAttached, isRemote, state} = browser;
    const size = memoryBytes ? ` · ${Math.round(memoryBytes / 1024 / 1024)} MiB` : '';
    return html`
      <section class="card" aria-label=${browserId}>
        <div class="head">
          <div class="names"><h2>${browserId}</h2><p class="muted small">${version} · ${texts.process} ${pid ?? '–'}${size}</p></div>
          ${isShared ? html`<span class="badge">${texts.shared}</span>` : nothing}
          ${isAttached ? html`<span class="badge accent">${texts.attached}</span>` : nothing}
          ${isRemote ? html`<span class="badge accent">${texts.elsewhere}</span>` : nothing}
          ${state === 'lost' ? html`<span class="badge warn">${texts.lost}</span>` : nothing}
          <button class="small quiet icon" aria-label=${`${texts.newTab}: ${browserId}`} title=${texts.newTab} @click=${() => this._newTab(browserId)}><ac-icon name="plus"></ac-icon></button>
          <button class="small quiet icon" aria-label=${`${texts.close}: ${browserId}`} title=${texts.close} @click=${() => this._call('chrome_close', {browserId})}><ac-icon name="x"></ac-icon></button>
        </div>
        ${tabs.length ? tabs.map((/** @type {any} */ tab) => this._tab(texts, tab)) : html`<p class="note muted small">${texts.noTab}</p>`}
      </section>`;
  }

  /** @param {ReturnType<typeof textsFor>} texts @param {any} tab */
  _tab(texts, tab) {
    const name = tab.title || texts.untitled;
    const states = /** @type {Record<string, string>} */ (texts.state);
    const isChosen = tab.tabId === this._chosen;
    return html`
      <div class="tab ${isChosen ? 'chosen' : ''}">
        <button class="quiet" aria-pressed=${isChosen} @click=${() => { this._chosen = tab.tabId; }}>
          <p>${name}</p><p class="muted small">${tab.url}</p>
        </button>
        ${tab.state === 'open' ? nothing : html`<span class="badge accent">${states[tab.state] ?? tab.state}</span>`}
        <button class="small quiet icon" aria-label=${`${texts.closeTab}: ${name}`} @click=${() => this._close(tab)}><ac-icon name="x"></ac-icon></button>
      </div>`;
  }

  /** @param {string} browserId */
  async _newTab(browserId) {
    const result = await this._call('chrome_new_tab', {browserId});
    if (result?.ok) this._chosen = result.data.tabId;
  }

  /** @param {any} tab */
  async _close({tabId, owner, resourceId}) {
    if (owner === 'chrome') await this._call('chrome_close_tab', {tabId});
    else await this.client.fetch(`/api/resources/${encodeURIComponent(resourceId)}`, {method: 'DELETE'});
  }

  /** @param {string} tool @param {Record<string, unknown>} args */
  async _call(tool, args) {
    this._busy = true;
    try {
      const result = await this.client.call(tool, args);
      if (!result.ok) this.client.toast(textsFor(this.client).failed, result.error);
      await this._load();
      return result;
    } finally {
      this._busy = false;
    }
  }
}

customElements.define('chrome-tab-view', ChromeTabView);
customElements.define('chrome-panel', ChromePanel);
