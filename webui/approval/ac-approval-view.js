import {LitElement, css, html, nothing} from 'lit';
import {repeat} from 'lit/directives/repeat.js';
import {client} from '../client/client.js';
import '../ui/ac-connection.js';
import '../ui/ac-empty.js';
import '../ui/ac-icon.js';
import '../ui/ac-preferences.js';
import {Localized, t} from '../base/i18n.js';
import {Listening} from '../base/subscriptions.js';
import {stopState} from '../client/stop-state.js';
import {base, buttons} from '../ui/styles.js';
import './cards/ac-approval-call.js';
import './cards/ac-approval-change.js';
import './ac-approval-clients.js';
import './ac-approval-hosts.js';
import './ac-approval-log-in.js';
import './ac-approval-secrets.js';
import './cards/ac-approval-pairing.js';
import {isCallFrame, isFramed, onlyCall, pageOrigin} from './guard/framing.js';
import {waiting} from './cards/pending-requests.js';

/** The approval view: pending requests, oldest first; in a separate window also clients, hosts and secrets. */
export class AcApprovalView extends Localized(LitElement) {
  static properties = {
    isStarted: {attribute: false},
    loginError: {attribute: false},
    _failure: {state: true},
  };

  static styles = [base, buttons, css`
    :host { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-4); padding: var(--ac-space-6) var(--ac-space-4) var(--ac-space-8); max-width: 52rem; margin-inline: auto; }
    :host(.framed) { padding: var(--ac-space-3); max-width: 60rem; }
    :host(.call) { max-width: none; gap: var(--ac-space-2); }
    .top { display: flex; align-items: center; gap: var(--ac-space-3); }
    .top h1 { flex: 1; font-size: var(--ac-text-xl); }
    .list { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-3); }
    .banner { display: flex; flex-wrap: wrap; gap: var(--ac-space-2) var(--ac-space-3); align-items: center; padding: var(--ac-space-3) var(--ac-space-4); border-radius: var(--ac-radius-m); background: var(--ac-danger-soft); }
    .banner p { flex: 1 1 14rem; overflow-wrap: anywhere; }
    .banner ac-icon { color: var(--ac-danger); }
    footer { display: grid; gap: var(--ac-space-5); margin-top: var(--ac-space-5); padding-top: var(--ac-space-5); border-top: 1px solid var(--ac-border); }
    footer .row { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: var(--ac-space-3); }
  `];

  constructor() {
    super();
    this.isStarted = false;
    /** @type {import('../client/client.js').ApiError | null} */
    this.loginError = null;
    this._failure = '';
    this.classList.toggle('framed', isFramed);
    this.classList.toggle('call', isCallFrame);
    // match the surrounding card
    if (isCallFrame) document.documentElement.style.background = 'var(--ac-surface)';
    new Listening(this, () => [
      client.on('connection', () => this.requestUpdate()),
      waiting.subscribe(() => this.requestUpdate()),
      stopState.subscribe(() => this.requestUpdate()),
    ]);
  }

  /** True if the user is not logged in here. */
  get needsLogIn() {
    return client.connection === 'unauthorized';
  }

  /** True once the pending requests or the log-in form are shown. */
  get isReady() {
    return this.isStarted && (this.needsLogIn || waiting.isLoaded);
  }

  render() {
    if (!this.isStarted) return nothing;
    if (this.needsLogIn) {
      return html`${this._top()}<ac-approval-log-in .error=${this.loginError}></ac-approval-log-in>`;
    }
    const {shownCalls: calls, shownQuestions: questions, changes, pairings} = waiting;
    if (questions.length) void import('./cards/ac-approval-question.js'); // rare, and with the components of forms
    return html`
      ${this._top()}
      ${stopState.isStopped ? this._stopped() : nothing}
      ${this._failure ? html`<div class="banner" role="alert"><ac-icon name="circle-alert"></ac-icon><p>${this._failure}</p>
        <button class="small quiet" @click=${() => { this._failure = ''; }}>${t('ui.dismiss')}</button></div>` : nothing}
      <div class="list" role="region" aria-label=${t('approval.queue')} @ac-failed=${this._onFailed}>
        ${repeat(pairings, ({pairingId}) => pairingId, (pairing) => html`<ac-approval-pairing ?alone=${waiting.count === 1} .pairing=${pairing}></ac-approval-pairing>`)}
        ${repeat(changes, ({changeId}) => changeId, (change) => html`<ac-approval-change ?alone=${waiting.count === 1} .change=${change}></ac-approval-change>`)}
        ${repeat(questions, ({questionId}) => questionId, (question) => html`<ac-approval-question .question=${question}></ac-approval-question>`)}
        ${repeat(calls, ({callId}) => callId, (call) => html`<ac-approval-call ?alone=${waiting.count === 1} .call=${call}></ac-approval-call>`)}
      </div>
      ${waiting.count === 0 && !stopState.isStopped ? this._empty() : nothing}
      ${isFramed ? nothing : this._footer()}`;
  }

  _empty() {
    if (!waiting.isLoaded) return nothing;
    if (isCallFrame) return html`<p class="muted">${t('approval.settled')}</p>`;
    if (onlyCall) return html`<ac-empty icon="check" heading=${t('approval.settled')}><a slot="actions" class="button" href="/">${t('approval.showAll')}</a></ac-empty>`;
    return html`<ac-empty icon="check" heading=${t('approval.empty')}>${t('approval.emptyHint')}</ac-empty>`;
  }

  _top() {
    if (isFramed) return nothing;
    return html`
      <header class="top"><h1>${t('approval.heading')}</h1>
        ${client.connection === 'open' || client.connection === 'unauthorized' ? nothing : html`<ac-connection></ac-connection>`}
        <a class="button" href=${pageOrigin}><ac-icon name="arrow-left"></ac-icon>${t('approval.toPage')}</a></header>`;
  }

  _stopped() {
    return html`
      <div class="banner" role="alert"><ac-icon name="octagon-x"></ac-icon><p><strong>${t('shell.stoppedHeading')}</strong> ${t('approval.stoppedText')}</p>
        <button @click=${this._resume}><ac-icon name="play"></ac-icon>${t('approval.resume')}</button></div>`;
  }

  _footer() {
    return html`
      <footer>
        <ac-approval-clients></ac-approval-clients>
        <ac-approval-hosts></ac-approval-hosts>
        <ac-approval-secrets></ac-approval-secrets>
        <div class="row"><ac-preferences></ac-preferences><button class="quiet" @click=${() => client.logOut()}><ac-icon name="log-out"></ac-icon>${t('shell.logOut')}</button></div>
      </footer>`;
  }

  /** @param {CustomEvent<{error: Error}>} event */
  _onFailed({detail: {error}}) {
    this._failure = error.message;
  }

  /** @param {Event} event */
  async _resume(event) {
    if (!event.isTrusted) return;
    await client.post('/api/resume', {});
    await stopState.load();
  }
}

customElements.define('ac-approval-view', AcApprovalView);
