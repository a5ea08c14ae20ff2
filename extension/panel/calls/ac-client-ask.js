import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../../webui/base/i18n.js';
import {Listening} from '../../webui/base/subscriptions.js';
import {base, buttons} from '../../webui/ui/styles.js';
import {toastError} from '../../webui/ui/toasts.js';
import '../../webui/ui/ac-icon.js';
import '../../webui/approval/cards/ac-approval-actions.js';
import {cardStyles} from '../../webui/approval/cards/card-styles.js';
import {END, Reading} from '../../webui/approval/guard/read-tracking.js';
import {requestSite} from '../../worker/api.js';
import {clientCalls, tabOf} from './client-calls.js';
import {linesOf} from './describe.js';
import {isOurs, onTurns, turnOf} from './turn-tabs.js';

/**
 * Asks for approval of a page tool call, with a description of what it will do in the page.
 * @fires ac-reject {toolId: string, failed: (error: unknown) => void}
 */
export class AcClientAsk extends Localized(LitElement) {
  static properties = {
    call: {attribute: false},
    sessionId: {attribute: false},
    _turn: {state: true},
    _isOurs: {state: true},
    _tab: {state: true},
    _isBusy: {state: true},
  };

  static styles = [base, buttons, cardStyles, css`
    article { --pad: var(--ac-space-3); border: 0; border-radius: 0; outline-offset: -2px; }
    .where { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: var(--ac-space-2); color: var(--ac-text-muted); font-size: var(--ac-text-s); overflow-wrap: anywhere; }
    .where ac-icon { margin-top: 0.125rem; }
    .elsewhere { padding: var(--ac-space-3); background: var(--ac-warn-soft); display: grid; gap: var(--ac-space-2); justify-items: start; }
    .note.warn { flex-wrap: wrap; align-items: center; }
    .note.warn span { flex: 1 1 12rem; }
  `];

  constructor() {
    super();
    /** @type {import('../../webui/chat/conversation/items.js').ChatCall | null} */
    this.call = null;
    this.sessionId = '';
    /** Undefined while unknown. @type {import('./turn-tabs.js').Turn | null | undefined} */
    this._turn = undefined;
    this._isOurs = false;
    /** @type {chrome.tabs.Tab | null} */
    this._tab = null;
    this._isBusy = false;
    this._reading = new Reading(this);
    this.addEventListener('keydown', (event) => this._onKey(event));
    new Listening(this, () => [clientCalls.subscribe(() => this.requestUpdate()), onTurns(() => void this._load())]);
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (changed.has('call') || changed.has('sessionId')) void this._load();
  }

  async _load() {
    if (!this.call || !this.sessionId) return;
    const turn = await turnOf(this.sessionId);
    this._isOurs = turn !== null && await isOurs(turn);
    this._tab = turn && await chrome.tabs.get(tabOf(turn, this.call)).catch(() => null);
    this._turn = turn;
    // a call that needs no approval and was requested while this panel was not listening
    if (this._isOurs && this.call.needsApproval === false && !clientCalls.problemOf(this.call.toolId)) void clientCalls.carryOut(this.sessionId, this.call);
  }

  render() {
    const {call, _turn: turn} = this;
    if (!call || turn === undefined) return nothing;
    if (!turn || !this._isOurs) return this._renderElsewhere(t(turn ? 'panel.otherPanel' : 'panel.noPanel'));
    const isBusy = this._isBusy || clientCalls.isRunning(call.toolId);
    return html`
      <article tabindex="-1" aria-label=${t('panel.willDo')}>
        <p class="where"><ac-icon name="globe"></ac-icon><span>${t('panel.inTab', {host: hostOf(this._tab) || turn.host, title: this._tab?.title || t('panel.tabGone')})}</span></p>
        <div class="seen">${END}<ol class="words">${linesOf(call.toolName, call.arguments, turn.elements).map((line) => html`<li>${line}</li>`)}</ol>${END}</div>
        ${this._renderProblem(call.toolId)}
        <ac-approval-actions .yes=${t('approval.approve')} .no=${t('approval.reject')} .subject=${call.toolName} .isBusy=${isBusy} .isRead=${this._reading.isDone} @ac-decide=${this._decide}></ac-approval-actions>
      </article>`;
  }

  /** @param {string} text */
  _renderElsewhere(text) {
    return html`<div class="elsewhere"><span>${text}</span><button class="small danger" @click=${this._reject}>${t('approval.reject')}</button></div>`;
  }

  /** @param {string} toolId */
  _renderProblem(toolId) {
    const problem = clientCalls.problemOf(toolId);
    if (!problem) return nothing;
    const {origin} = problem;
    return html`
      <div class="note warn" role="alert"><ac-icon name="lock"></ac-icon><span>${origin ? t('panel.needsSite', {origin}) : t('panel.needsClick')}</span>
        ${origin ? html`<button class="small" @click=${() => this._allow(origin)}>${t('panel.allowSite')}</button>` : nothing}</div>`;
  }

  updated() {
    this._reading.watch(this.call?.toolId, this.renderRoot.querySelectorAll('.end'));
  }

  /** Allow a site and approve the call. The browser asks for permission only during a click. @param {string} origin */
  async _allow(origin) {
    if (await requestSite(origin)) await this._approve();
  }

  /** @param {CustomEvent<{approved: boolean}>} event */
  _decide({detail: {approved}}) {
    return approved ? this._approve() : this._reject();
  }

  async _approve() {
    const {call} = this;
    if (!call) return;
    this._isBusy = true;
    try {
      await clientCalls.approve(this.sessionId, call);
    } catch (error) {
      toastError(t('panel.approveFailed'), error);
    }
    this._isBusy = false;
  }

  _reject() {
    this._isBusy = true;
    const failed = (/** @type {unknown} */ error) => {
      this._isBusy = false;
      toastError(t('chat.rejectFailed'), error);
    };
    this.dispatchEvent(new CustomEvent('ac-reject', {detail: {toolId: this.call?.toolId, failed}, bubbles: true, composed: true}));
  }

  /** @param {KeyboardEvent} event */
  _onKey(event) {
    const approved = {Enter: true, Backspace: false}[event.key];
    if (approved === undefined || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    /** @type {import('../../webui/approval/cards/ac-approval-actions.js').AcApprovalActions | null} */ (this.renderRoot.querySelector('ac-approval-actions'))?.decideByKey(event, approved);
  }
}
customElements.define('ac-client-ask', AcClientAsk);

/** @param {chrome.tabs.Tab | null} tab */
function hostOf(tab) {
  return tab?.url && URL.canParse(tab.url) ? new URL(tab.url).host : '';
}
