import {LitElement, css, html, nothing} from 'lit';
import {Localized, hasText, t} from '../../webui/base/i18n.js';
import {Listening} from '../../webui/base/subscriptions.js';
import {base, buttons} from '../../webui/ui/styles.js';
import {visible, visibleText} from '../../webui/approval/guard/visible-text.js';
import {toast, toastError} from '../../webui/ui/toasts.js';
import '../../webui/ui/ac-icon.js';
import {endShare, requestSite, resumeShare} from '../../worker/api.js';
import {activeTab} from './active-tab.js';
import {shares} from './shares.js';

/** @typedef {import('./shares.js').Share} Share */

/** Shows how the tab next to the panel and those of the chat in view are shared, with a button to stop sharing. */
export class AcPanelShared extends Localized(LitElement) {
  static properties = {sessionId: {attribute: false}};

  static styles = [base, buttons, css`
    ul { display: grid; gap: var(--ac-space-1); }
    li { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-1) var(--ac-space-2); padding: var(--ac-space-1) var(--ac-space-1) var(--ac-space-1) var(--ac-space-3); border-radius: var(--ac-radius-m); background: var(--ac-accent-soft); font-size: var(--ac-text-s); }
    li.paused { background: var(--ac-warn-soft); }
    li > ac-icon { color: var(--ac-accent); }
    li.paused > ac-icon { color: var(--ac-warn); }
    p { flex: 1 1 10rem; min-width: 0; overflow-wrap: anywhere; }
  `];

  constructor() {
    super();
    this.sessionId = '';
    /** The id of the ended share that was reported last. */
    this._told = '';
    new Listening(this, () => [activeTab.subscribe(() => this.requestUpdate()), shares.subscribe(() => this._onShares())]);
  }

  connectedCallback() {
    super.connectedCallback();
    this._told = shares.ended?.shareId ?? '';
  }

  render() {
    const shown = shares.all.filter(({tabId, sessionId}) => tabId === activeTab.tab?.id || sessionId === this.sessionId);
    if (!shown.length) return nothing;
    return html`<ul aria-label=${t('panel.sharedTabs')}>${shown.map((share) => this._renderShare(share))}</ul>`;
  }

  /** @param {Share} share */
  _renderShare(share) {
    const {shareId, state, title} = share;
    const isPaused = state === 'paused';
    return html`
      <li class=${isPaused ? 'paused' : ''}>
        <ac-icon name=${isPaused ? 'pause' : shares.isActing(shareId) ? 'mouse-pointer' : 'link'}></ac-icon>
        <p role="status">${this._textOf(share)}</p>
        ${isPaused && share.elsewhere ? html`<button class="small" @click=${() => this._resume(share)}>${t('panel.shareOn')}</button>` : nothing}
        <button class="small danger" aria-label=${t('panel.shareEndNamed', {title: visibleText(title)})} @click=${() => endShare(shareId)}>${t('panel.shareEnd')}</button>
      </li>`;
  }

  /** @param {Share} share */
  _textOf({shareId, state, tabId, title, sessionId, sessionTitle, origin, elsewhere}) {
    const isThis = tabId === activeTab.tab?.id;
    const name = isThis ? t('panel.thisTab') : html`“${visible(title)}”`;
    if (state === 'paused' && elsewhere === origin) return html`${name} ${t('panel.shareTakenBack', {origin: visibleText(origin)})}`;
    if (state === 'paused') return html`${name} ${elsewhere ? t('panel.sharePaused', {origin: visibleText(elsewhere)}) : t('panel.sharePausedUnseen')}`;
    if (shares.connection === 'unavailable') return html`${name} ${t('panel.shareUnavailable')}`;
    if (state === 'starting' || shares.connection !== 'open') return html`${name} ${t('panel.shareStarting')}`;
    const chat = sessionId === this.sessionId ? t('panel.withThisChat') : t('panel.withChat', {title: visibleText(sessionTitle || t('chat.untitled'))});
    return html`${name} ${t(shares.isActing(shareId) ? 'panel.shareActing' : 'panel.shareReady', {chat})}`;
  }

  /** @param {Share} share */
  async _resume({shareId, elsewhere}) {
    try {
      if (elsewhere && await requestSite(elsewhere)) await resumeShare(shareId);
    } catch (error) {
      toastError(t('panel.shareFailed'), error);
    }
  }

  /** Report a share that ended, unless the user ended it. */
  _onShares() {
    const {ended} = shares;
    if (ended && ended.shareId !== this._told) {
      this._told = ended.shareId;
      const reason = `panel.ended.${ended.reason}`;
      if (ended.reason !== 'person') toast(t('panel.shareEnded', {title: visibleText(ended.title)}), {kind: 'info', detail: ended.message ?? (hasText(reason) ? t(reason) : '')});
    }
    this.requestUpdate();
  }
}
customElements.define('ac-panel-shared', AcPanelShared);
