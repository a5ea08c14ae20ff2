/** One shared tab: its page, who shares it, a screenshot on request, and a button to stop sharing. */
import {LitElement, css, html, nothing} from 'lit';
import {badges, base, buttons, cards, views} from 'agentcore/styles.js';
import {hindrance, outcomeText, stateText, texts} from './texts.js';

class UserTabsView extends LitElement {
  static properties = {
    client: {attribute: false},
    resourceId: {attribute: false},
    _tab: {state: true},
    _picture: {state: true},
    _error: {state: true},
    _isLooking: {state: true},
  };

  static styles = [base, badges, buttons, cards, views, css`
    :host { display: block; padding: var(--ac-space-5); overflow-wrap: anywhere; }
    header { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-2) var(--ac-space-3); margin-bottom: var(--ac-space-2); }
    h1 { font-size: var(--ac-text-l); min-width: 0; }
    h1, .address { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; line-clamp: 2; overflow: hidden; }
    .why { margin-top: var(--ac-space-2); max-width: 65ch; }
    .muted { color: var(--ac-text-muted); font-size: var(--ac-text-s); }
    .actions { display: flex; flex-wrap: wrap; gap: var(--ac-space-2); margin: var(--ac-space-4) 0; }
    figure { margin: 0 0 var(--ac-space-4); }
    img { display: block; max-width: 100%; max-height: 60vh; border: 1px solid var(--ac-border); border-radius: var(--ac-radius-m); }
    figcaption { margin-top: var(--ac-space-1); }
    h2 { font-size: var(--ac-text-m); letter-spacing: 0; margin-bottom: var(--ac-space-2); }
    ul { list-style: none; margin: 0; padding: 0; display: grid; gap: var(--ac-space-1); }
    li { display: flex; flex-wrap: wrap; gap: var(--ac-space-3); }
    .error { color: var(--ac-danger); margin-bottom: var(--ac-space-3); }
    @media (max-width: 48rem) { :host { padding: var(--ac-space-3); } }
  `];

  constructor() {
    super();
    /** @type {any} */
    this.client = null;
    this.resourceId = '';
    /** @type {import('./about.js').SharedTab | null | undefined}  undefined: not known yet; null: it has ended */
    this._tab = undefined;
    /** @type {{url: string, at: Date} | null} */
    this._picture = null;
    this._error = '';
    this._isLooking = false;
  }

  connectedCallback() {
    super.connectedCallback();
    this.client.on('user_tabs.changed', () => void this._load());
    this.client.on('locale', () => this.requestUpdate());
    this.client.on('resource.log', (/** @type {any} */ {resourceId}) => { if (resourceId === this.resourceId) void this._load(); });
    this.client.on('connection', (/** @type {string} */ state) => { if (state === 'open') void this._load(); });
    void this._load();
  }

  async _load() {
    try {
      const {tabs} = await this.client.get('state');
      this._tab = tabs.find((/** @type {any} */ tab) => tab.resourceId === this.resourceId) ?? null;
    } catch {
      // the page shows that the server is unreachable
    }
  }

  render() {
    const t = texts(this.client.locale);
    const tab = this._tab;
    if (tab === undefined) return nothing;
    if (tab === null) return html`<p>${t.ended}</p>`;
    const why = hindrance(tab, this.client.locale);
    return html`
      <header><h1 title=${tab.title}>${tab.title || tab.url}</h1><span class="badge ${why ? 'warn' : 'ok'}">${stateText(tab, this.client.locale)}</span></header>
      <p class="muted address" title=${tab.url}>${tab.url}</p>
      <p class="muted">${t.by(tab.client, tab.browser)}</p>
      ${why ? html`<p class="why">${why}</p>` : nothing}
      <div class="actions">
        <button ?disabled=${this._isLooking || !tab.isThere} @click=${this._look}>${this._isLooking ? t.looking : this._picture ? t.lookAgain : t.look}</button>
        <button class="danger" @click=${this._end}>${t.end}</button>
      </div>
      ${this._error ? html`<p class="error" role="alert">${t.lookFailed}: ${this._error}</p>` : nothing}
      ${this._picture ? html`<figure><img src=${this._picture.url} alt=${t.picture}><figcaption class="muted">${t.at(this._time(this._picture.at))}</figcaption></figure>` : nothing}
      <h2>${t.last}</h2>
      ${tab.done.length === 0 ? html`<p class="muted">${t.nothing}</p>` : html`
        <ul>${tab.done.map(({tool, outcome, time}) => html`<li><code>${tool}</code><span>${outcomeText(outcome, this.client.locale)}</span><span class="muted">${this._time(new Date(time))}</span></li>`)}</ul>`}`;
  }

  /** @param {Date} moment */
  _time(moment) {
    return moment.toLocaleTimeString(this.client.locale === 'zh' ? 'zh-CN' : 'en', {hour: '2-digit', minute: '2-digit', second: '2-digit'});
  }

  async _look() {
    this._isLooking = true;
    this._error = '';
    try {
      const {mime, base64, takenAt} = await this.client.get(`tabs/${encodeURIComponent(this.resourceId)}/picture`);
      this._picture = {url: `data:${mime};base64,${base64}`, at: new Date(takenAt)};
    } catch (error) {
      this._error = /** @type {Error} */ (error).message;
    } finally {
      this._isLooking = false;
    }
  }

  async _end() {
    try {
      await this.client.fetch(`/api/resources/${encodeURIComponent(this.resourceId)}`, {method: 'DELETE'});
    } catch (error) {
      this.client.toast(texts(this.client.locale).endFailed, /** @type {Error} */ (error).message);
    }
    await this._load();
  }
}

customElements.define('user-tabs-view', UserTabsView);
