import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../../webui/base/i18n.js';
import {Listening} from '../../webui/base/subscriptions.js';
import {href, navigate} from '../../webui/base/router.js';
import {draftOf, keepDraft} from '../../webui/chat/composer/drafts.js';
import {sessionList} from '../../webui/chat/sessions/session-list.js';
import {client} from '../../webui/client/client.js';
import {base, buttons} from '../../webui/ui/styles.js';
import {toast, toastError} from '../../webui/ui/toasts.js';
import '../../webui/ui/ac-icon.js';
import '../../webui/ui/overlay/ac-menu.js';
import {requestSite, share} from '../../worker/api.js';
import {server} from '../server.js';
import {activeTab} from './active-tab.js';
import {shares} from './shares.js';

/** The maximum number of other chats offered. */
const OFFERED = 12;

/** Shares the tab next to the panel with the chat in view, or with another one that the user selects. */
export class AcPanelShare extends Localized(LitElement) {
  static properties = {sessionId: {attribute: false}};

  static styles = [base, buttons, css`
    :host { flex: none; }
    button { min-height: 2rem; border: 0; font-size: var(--ac-text-s); color: var(--ac-text-muted); }
  `];

  constructor() {
    super();
    this.sessionId = '';
    new Listening(this, () => [activeTab.subscribe(() => this.requestUpdate()), shares.subscribe(() => this.requestUpdate())]);
  }

  render() {
    const {tab, reach} = activeTab;
    if (!server()?.scopes.includes('tab') || reach === 'page_forbidden' || !tab?.url || shares.ofTab(tab.id)) return nothing;
    return html`
      <button class="quiet small" aria-haspopup="menu" @click=${this._offer}>${t('panel.share')}</button>
      <ac-menu></ac-menu>`;
  }

  /** @param {Event} event */
  async _offer(event) {
    const anchor = /** @type {HTMLElement} */ (event.currentTarget);
    const menu = /** @type {import('../../webui/ui/overlay/ac-menu.js').AcMenu} */ (this.renderRoot.querySelector('ac-menu'));
    const others = await this._others();
    menu.open([
      {label: t('panel.shareHere'), icon: 'message-square', run: () => void this._share(() => this._here())},
      ...others.map(({sessionId, title}, at) => ({label: title || t('chat.untitled'), isApart: at === 0, run: () => void this._share(async () => sessionId, title)})),
    ], anchor, t('panel.share'));
  }

  /** @returns {Promise<{sessionId: string, title: string}[]>} */
  async _others() {
    try {
      const {sessions} = await client.get('/api/sessions/names');
      return sessions.filter((/** @type {{sessionId: string}} */ {sessionId}) => sessionId !== this.sessionId).slice(0, OFFERED);
    } catch {
      return []; // the connection's state already shows that the server is unreachable
    }
  }

  /** Return the id of the chat in view, creating the chat if it has not started. */
  async _here() {
    if (this.sessionId) return this.sessionId;
    const {sessionId} = await sessionList.create({});
    keepDraft(sessionId, draftOf(''));
    keepDraft('', '');
    navigate(href(['chats', sessionId]), {replace: true});
    return sessionId;
  }

  /** Share the tab. The site is requested first, as the browser asks for it only during a click. @param {() => Promise<string>} choose @param {string} [title] */
  async _share(choose, title) {
    const {tab} = activeTab;
    if (tab?.id === undefined || !tab.url) return;
    try {
      if (!await requestSite(tab.url)) return void toast(t('panel.shareRefused'), {kind: 'info'});
      await share(tab.id, await choose(), title);
    } catch (error) {
      toastError(t('panel.shareFailed'), error);
    }
  }
}
customElements.define('ac-panel-share', AcPanelShare);
