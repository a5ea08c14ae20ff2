import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../../webui/base/i18n.js';
import {Listening} from '../../webui/base/subscriptions.js';
import {visible} from '../../webui/approval/guard/visible-text.js';
import {client} from '../../webui/client/client.js';
import {base, buttons} from '../../webui/ui/styles.js';
import '../../webui/ui/ac-icon.js';
import {requestSite} from '../../worker/api.js';
import {activeTab, hostOf} from './active-tab.js';
import {isOff, look, onOff, setOff} from './page-context.js';
import './ac-panel-share.js';

/** @typedef {Awaited<ReturnType<typeof look>>} Context */

/** Shows the page that will be sent with the next message: its content on demand, that it is left out, or why it cannot be sent. */
export class AcPanelContext extends Localized(LitElement) {
  static properties = {
    sessionId: {attribute: false},
    _isOff: {state: true},
    _isOpen: {state: true},
    _context: {state: true},
  };

  static styles = [base, buttons, css`
    .whole { display: grid; grid-template-columns: minmax(0, 1fr); border: 1px solid var(--ac-border); border-radius: var(--ac-radius-m); background: var(--ac-surface); }
    .row { display: flex; align-items: center; min-width: 0; }
    .page { flex: 1; min-width: 0; display: grid; grid-template-columns: auto minmax(0, 1fr) auto; justify-content: start; gap: var(--ac-space-2); min-height: 2rem; padding: 0 var(--ac-space-2); border: 0; background: none; box-shadow: none; text-align: start; font-size: var(--ac-text-s); font-weight: inherit; }
    .page img { width: 1rem; height: 1rem; }
    .name { min-width: 0; overflow: hidden; text-overflow: ellipsis; line-height: var(--ac-line); }
    .host { color: var(--ac-text-muted); }
    .off .name { color: var(--ac-text-muted); text-decoration: line-through; }
    .page > ac-icon:last-child { color: var(--ac-text-muted); transition: rotate var(--ac-motion); }
    .page[aria-expanded="true"] > ac-icon:last-child { rotate: 180deg; }
    .row > button.icon { min-height: 2rem; width: 2rem; color: var(--ac-text-muted); border: 0; }
    .about { display: grid; gap: var(--ac-space-2); padding: var(--ac-space-2) var(--ac-space-3) var(--ac-space-3); border-top: 1px solid var(--ac-border); font-size: var(--ac-text-s); overflow-wrap: anywhere; }
    .sent { max-height: min(16rem, 30dvh); overflow: auto; display: grid; gap: var(--ac-space-2); outline-offset: -2px; }
    dl { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: var(--ac-space-1) var(--ac-space-3); }
    dt { color: var(--ac-text-muted); }
    ul { display: grid; gap: 0.125rem; color: var(--ac-text-muted); font-family: var(--ac-font-mono); font-size: var(--ac-text-xs); }
    .cannot { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-2); }
    .cannot p { flex: 1 1 12rem; }
  `];

  constructor() {
    super();
    this.sessionId = '';
    this._isOff = false;
    this._isOpen = false;
    /** Null if not read. @type {Context | null} */
    this._context = null;
    new Listening(this, () => [
      activeTab.subscribe(() => void this._load()), onOff(() => void this._load()),
      client.on('session.message', ({sessionId, role}) => { if (sessionId === this.sessionId && role === 'user') this._isOpen = false; }),
    ]);
  }

  connectedCallback() {
    super.connectedCallback();
    void this._load();
  }

  /** Close the details when the session changes, as it does once the first message is sent, to make room for the answer. @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (changed.has('sessionId')) this._isOpen = false;
  }

  async _load() {
    const {tab, reach} = activeTab;
    this._isOff = await isOff(tab?.id);
    const isShown = this._isOpen && !this._isOff && tab?.id !== undefined && reach === 'ready';
    this._context = isShown ? await look(/** @type {number} */ (tab?.id)).catch(() => null) : null;
    this.requestUpdate();
  }

  render() {
    const {tab, reach} = activeTab;
    if (!tab) return nothing;
    const isSent = reach === 'ready' && !this._isOff;
    return html`
      <section class="whole ${this._isOff ? 'off' : ''}" aria-label=${t('panel.page')}>
        <div class="row">
          <button class="page" aria-expanded=${this._isOpen} aria-controls="about" title=${tab.title ?? ''} @click=${this._toggle}>
            ${this._renderIcon(tab, isSent)}<span class="name">${this._renderName(tab)}</span><ac-icon name="chevron-down"></ac-icon>
          </button>
          ${reach === 'ready' ? this._renderSwitch(Number(tab.id)) : nothing}
          <ac-panel-share .sessionId=${this.sessionId}></ac-panel-share>
        </div>
        <div class="about" id="about" ?hidden=${!this._isOpen}>${this._isOpen ? this._renderAbout() : nothing}</div>
      </section>`;
  }

  /** @param {chrome.tabs.Tab} tab @param {boolean} isSent */
  _renderIcon({favIconUrl = ''}, isSent) {
    if (isSent && favIconUrl.startsWith('data:image/')) return html`<img src=${favIconUrl} alt="">`;
    return html`<ac-icon name=${isSent ? 'globe' : 'eye-off'}></ac-icon>`;
  }

  /** @param {chrome.tabs.Tab} tab */
  _renderName(tab) {
    const {reach} = activeTab;
    if (reach === 'page_forbidden') return t('panel.pageForbidden');
    if (reach !== 'ready') return t('panel.pageUnseen');
    return html`<span class="visually-hidden">${t(this._isOff ? 'panel.pageOff' : 'panel.pageGoes')}: </span>${visible(tab.title || hostOf(tab))} <span class="host">${hostOf(tab)}</span>`;
  }

  /** @param {number} tabId */
  _renderSwitch(tabId) {
    const label = t(this._isOff ? 'panel.pagePutOn' : 'panel.pageTakeOff');
    return html`<button class="quiet icon" aria-label=${label} title=${label} @click=${() => setOff(tabId, !this._isOff)}><ac-icon name=${this._isOff ? 'plus' : 'x'}></ac-icon></button>`;
  }

  _renderAbout() {
    const {reach, tab} = activeTab;
    if (reach === 'page_forbidden') return html`<p>${t('panel.pageForbiddenText')}</p>`;
    if (reach !== 'ready') return this._renderUnseen(tab?.url);
    if (this._isOff) return html`<p>${t('panel.pageOffText')}</p>`;
    return html`<p class="muted">${t('panel.pageGoesText')}</p>${this._context ? this._renderContext(this._context) : nothing}`;
  }

  /** @param {string | undefined} url */
  _renderUnseen(url) {
    if (!url) return html`<p>${t('panel.pageUnseenText')}</p>`;
    const {origin} = new URL(url);
    return html`<div class="cannot"><p>${t('panel.needsSite', {origin})}</p><button class="small" @click=${() => requestSite(url)}>${t('panel.allowSite')}</button></div>`;
  }

  /** @param {Context} context */
  _renderContext({url, title, elements, selectedText}) {
    return html`
      <div class="sent" tabindex="0" role="group" aria-label=${t('panel.pageGoes')}>
        <dl>
          <dt>${t('panel.pageAddress')}</dt><dd>${visible(url)}</dd>
          <dt>${t('panel.pageTitle')}</dt><dd>${visible(title)}</dd>
          ${selectedText ? html`<dt>${t('panel.pageSelection')}</dt><dd>${visible(selectedText)}</dd>` : nothing}
          <dt>${t('panel.pageElements')}</dt><dd>${t('panel.elementCount', {n: elements.length})}</dd>
        </dl>
        <ul>${elements.map(({desc}) => html`<li>${visible(desc)}</li>`)}</ul>
      </div>`;
  }

  _toggle() {
    this._isOpen = !this._isOpen;
    void this._load();
  }
}
customElements.define('ac-panel-context', AcPanelContext);
