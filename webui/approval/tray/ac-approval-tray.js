import {LitElement, css, html, nothing} from 'lit';
import {client} from '../../client/client.js';
import {approvalOrigin, approvals} from '../frame/pending-count.js';
import {Localized, t} from '../../base/i18n.js';
import {stopState} from '../../client/stop-state.js';
import {Listening} from '../../base/subscriptions.js';
import {SteadyItems} from '../../base/steady-items.js';
import {base, buttons} from '../../ui/styles.js';
import {desktopNotices} from './desktop-notices.js';
import '../frame/ac-approval-frame.js';
import '../../ui/ac-icon.js';

/**
 * Pending requests that no visible chat asks about: one line below the content, which the user can expand. It takes half of the
 * height at most and never covers the content.
 */
export class AcApprovalTray extends Localized(LitElement) {
  static properties = {_isOpen: {state: true}};

  static styles = [base, buttons, css`
    :host { display: flex; flex-direction: column; flex: none; min-height: 0; max-height: 50dvh; border-top: 1px solid var(--ac-border); background: var(--ac-surface-sunken); }
    :host([hidden]) { display: none; }
    header { display: flex; flex: none; align-items: center; gap: var(--ac-space-2); padding: var(--ac-space-1) var(--ac-space-2) var(--ac-space-1) var(--ac-space-4); background: var(--ac-warn-soft); }
    header[hidden] { display: none; }
    header ac-icon { color: var(--ac-warn); }
    header button ac-icon, header a ac-icon { color: inherit; }
    header.ask { background: var(--ac-surface-sunken); }
    header p { flex: 1; min-width: 0; font-weight: var(--ac-weight-medium); }
    ac-approval-frame { --ac-frame-max-height: calc(50dvh - 2.75rem); }
    ac-approval-frame[hidden] { display: none; }
  `];

  constructor() {
    super();
    this._isOpen = false;
    this._wasOpened = false;
    this._count = 0;
    this._isForOne = false;
    this._wasStopped = stopState.isStopped;
    new SteadyItems(this, () => this.renderRoot.querySelectorAll('header:not([hidden])'));
    new Listening(this, () => {
      const show = (/** @type {Event} */ event) => void this._show(/** @type {CustomEvent} */ (event).detail?.isForOne);
      document.addEventListener('ac-show-approvals', show);
      return [() => document.removeEventListener('ac-show-approvals', show), approvals.subscribe(() => this._onChange()), desktopNotices.subscribe(() => this.requestUpdate()),
        stopState.subscribe(() => this._onChange()), client.on('grant.given', ({grantId}) => void offerUndo(grantId))];
    });
  }

  render() {
    const n = approvals.count;
    const isNeeded = n > 0 || (stopState.isStopped && this._isOpen);
    this.hidden = !isNeeded && !desktopNotices.isQuestion;
    // once opened, the frame stays, hidden: the next call is shown without loading it again
    this._wasOpened ||= this._isOpen && isNeeded && approvalOrigin !== '';
    return html`
      ${desktopNotices.isQuestion ? this._renderQuestion() : nothing}
      <header data-id="waiting" ?hidden=${!isNeeded}>
        <ac-icon name="shield"></ac-icon>
        <p>${n === 0 ? t('approval.tray') : t(n < approvals.total ? 'approval.waitingElsewhere' : 'approval.waiting', {n})}</p>
        ${approvalOrigin ? html`
          <a class="button quiet small icon" href=${approvalOrigin} target="_blank" rel="noopener" title=${t('approval.ownWindow')} aria-label=${t('approval.ownWindow')}><ac-icon name="external-link"></ac-icon></a>
          <button class="small" aria-expanded=${this._isOpen} aria-controls="frame" @click=${this._toggle}>
            <ac-icon name=${this._isOpen ? 'chevron-down' : 'chevron-up'}></ac-icon>${t(this._isOpen ? 'approval.collapse' : 'approval.expand')}</button>` : nothing}
      </header>
      ${this._wasOpened ? html`<ac-approval-frame id="frame" ?hidden=${!this._isOpen || !isNeeded}></ac-approval-frame>` : nothing}`;
  }

  _toggle() {
    this._isOpen = !this._isOpen;
    this._isForOne = false;
  }

  _renderQuestion() {
    return html`
      <header class="ask" data-id="notices"><ac-icon name="bell"></ac-icon><p>${t('approval.notices')}</p>
        <button class="small" @click=${() => desktopNotices.choose(true)}>${t('approval.noticesYes')}</button>
        <button class="small quiet" @click=${() => desktopNotices.choose(false)}>${t('approval.noticesNo')}</button>
      </header>`;
  }

  /** Collapse when nothing is pending any more, so that the tray does not open by itself later, and when the one decision that it was opened for is made. */
  _onChange() {
    const before = this._count;
    this._count = approvals.count;
    const hasResumed = this._wasStopped && !stopState.isStopped;
    this._wasStopped = stopState.isStopped;
    if ((this._count < before || hasResumed) && (this._isForOne || this._count === 0) && !stopState.isStopped) this._isOpen = false;
    this.requestUpdate();
  }

  /** Open the frame and focus it, when another element links to the pending requests. @param {boolean} [isForOne]  collapse it after one decision */
  async _show(isForOne = false) {
    this._isForOne = isForOne;
    this._isOpen = true;
    await this.updateComplete;
    const frame = /** @type {HTMLElement | null} */ (this.renderRoot.querySelector('ac-approval-frame'));
    if (!frame?.hidden) frame?.focus();
  }
}

customElements.define('ac-approval-tray', AcApprovalTray);

/** @param {string} grantId */
async function offerUndo(grantId) {
  const {grantList} = await import('../grants/grant-list.js');
  await grantList.offerUndo(grantId);
}
