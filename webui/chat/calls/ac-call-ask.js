import {LitElement, css, html, nothing} from 'lit';
import {approvalAddress} from '../../approval/frame/ac-approval-frame.js';
import {approvalOrigin, approvals} from '../../approval/frame/pending-count.js';
import {Localized, t} from '../../base/i18n.js';
import {Listening} from '../../base/subscriptions.js';
import {STEADY_MS} from '../../base/steady-items.js';
import {base, buttons} from '../../ui/styles.js';
import {toastError} from '../../ui/toasts.js';
import '../../ui/ac-icon.js';

/** True if the approval frame shows a pending call completely. @param {import('../conversation/items.js').ChatCall} call */
export const showsWhole = ({kind}) => Boolean(approvalOrigin) && kind !== 'client';

/**
 * The approval of a pending call, in its card: a frame of the approval view, where the user decides; or where else it is decided.
 * @fires ac-reject {toolId: string, failed: (error: unknown) => void}
 */
export class AcCallAsk extends Localized(LitElement) {
  static properties = {
    call: {attribute: false},
    _isRejecting: {state: true},
    _needsLogIn: {state: true},
    _isMoving: {state: true},
  };

  static styles = [base, buttons, css`
    :host { display: block; border-top: 1px solid var(--ac-border); }
    .ask { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-2) var(--ac-space-3); padding: var(--ac-space-3); background: var(--ac-warn-soft); }
    .ask.line { padding-block: var(--ac-space-1); flex-wrap: nowrap; }
    .ask.allowed { background: none; } .ask.allowed strong { color: inherit; }
    .ask p { flex: 1 1 14rem; min-width: 0; }
    .ask strong { display: block; color: var(--ac-warn); }
    .ask.line strong { display: inline; }
    .actions { display: flex; flex-wrap: wrap; gap: var(--ac-space-2); }
  `];

  constructor() {
    super();
    /** @type {import('../conversation/items.js').ChatCall | null} */
    this.call = null;
    this._isRejecting = false;
    this._needsLogIn = false;
    this._isMoving = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this._timer = undefined;
    /** @type {(() => void) | null} */
    this._endShowing = null;
    this._shownId = '';
    new Listening(this, () => {
      const show = () => this._showFirst();
      document.addEventListener('ac-show-approvals', show);
      return [() => document.removeEventListener('ac-show-approvals', show), approvals.subscribe(() => this.requestUpdate())];
    });
  }

  disconnectedCallback() {
    clearTimeout(this._timer);
    this._isMoving = false;
    this._show('');
    super.disconnectedCallback();
  }

  connectedCallback() {
    super.connectedCallback();
    this.requestUpdate();
  }

  get _isFramed() {
    return Boolean(this.call?.kind !== 'client' && this.call?.callId && approvalOrigin);
  }

  render() {
    const {call} = this;
    if (!call) return nothing;
    return this._isFramed ? this._renderFrame(String(call.callId)) : this._renderText(call);
  }

  /** Show the first call that is asked about in a chat, if the tray has nothing to show. */
  _showFirst() {
    const [first] = approvals.inChats;
    if (approvals.count > 0 || first !== this._shownId) return;
    this.scrollIntoView({block: 'nearest'});
    /** @type {HTMLElement | null} */ (this.renderRoot.querySelector('ac-approval-frame'))?.focus();
  }

  /** True if the call is not in the approval queue, such as while its host is away: then the frame has no buttons. */
  get _isAway() {
    return approvals.isLoaded && !approvals.calls.has(String(this.call?.callId));
  }

  updated() {
    this._show(this.isConnected && this._isFramed ? String(this.call?.callId) : '');
  }

  /** @param {string} callId */
  _renderFrame(callId) {
    return html`
      <div class="ask line">
        <p><strong>${t('chat.waitsForYou')}</strong></p>
        <span class="actions">
          ${this._needsLogIn || this._isAway ? this._renderReject() : nothing}
          <a class="button quiet small icon" href=${approvalAddress(callId)} target="_blank" rel="noopener" title=${t('approval.ownWindow')} aria-label=${t('approval.ownWindow')}><ac-icon name="external-link"></ac-icon></a>
        </span>
      </div>
      <ac-approval-frame .callId=${callId} @ac-moved=${this._wait} @ac-log-in-needed=${this._onLogInNeeded}></ac-approval-frame>`;
  }

  /** @param {import('../conversation/items.js').ChatCall} call */
  _renderText({kind, client, needsApproval}) {
    const isAllowed = kind === 'client' && needsApproval === false;
    const [head, text] = kind === 'client' ? clientTexts(client, isAllowed) : [t('chat.waitsForYou'), t('chat.waitsForTerminal')];
    return html`
      <div class="ask ${isAllowed ? 'allowed' : ''}">
        <p><strong>${head}</strong>${text}</p>
        ${isAllowed ? nothing : html`<span class="actions">${this._renderReject()}</span>`}
      </div>`;
  }

  _renderReject() {
    return html`<button class="danger" ?disabled=${this._isRejecting || this._isMoving} @click=${this._reject}>${t('chat.reject')}</button>`;
  }

  /** Report which call is shown here, so that the tray leaves it out. @param {string} callId  empty: none any more */
  _show(callId) {
    if (callId === this._shownId) return;
    this._shownId = callId;
    this._endShowing?.();
    this._endShowing = callId ? approvals.showInChat(callId) : null;
  }

  /** @param {CustomEvent<{isNeeded: boolean}>} event */
  _onLogInNeeded({detail: {isNeeded}}) {
    if (isNeeded && !this._needsLogIn) this._wait();
    this._needsLogIn = isNeeded;
  }

  /** Keep the button from working for a moment, because it may have come under the pointer only just now. */
  _wait() {
    clearTimeout(this._timer);
    this._isMoving = true;
    this._timer = setTimeout(() => { this._isMoving = false; }, STEADY_MS);
  }

  _reject() {
    this._isRejecting = true;
    const failed = (/** @type {unknown} */ error) => {
      this._isRejecting = false;
      toastError(t('chat.rejectFailed'), error);
    };
    this.dispatchEvent(new CustomEvent('ac-reject', {detail: {toolId: this.call?.toolId, failed}, bubbles: true, composed: true}));
  }
}
customElements.define('ac-call-ask', AcCallAsk);

/** Return the texts about who answers a client's call, and how. @param {string | undefined} client  empty: unknown @param {boolean} isAllowed */
function clientTexts(client, isAllowed) {
  if (isAllowed) return [client ? t('chat.clientRuns', {client}) : t('chat.clientRunsUnnamed'), t('chat.clientRunsText')];
  return client ? [t('chat.waitsInClient', {client}), t('chat.waitsInClientText')] : [t('chat.waitsForClient'), t('chat.waitsForClientText')];
}
