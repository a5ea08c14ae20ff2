import {LitElement, css, html, nothing} from 'lit';
import '../../ui/ac-icon.js';
import '../../tools/ac-tool-effects.js';
import {Localized, inLocale, t} from '../../base/i18n.js';
import {badges, base, buttons, fields} from '../../ui/styles.js';
import './ac-approval-actions.js';
import './ac-approval-edit.js';
import './ac-approval-preview.js';
import {requesterText} from './requester.js';
import {startOver} from '../guard/button-arming.js';
import {isCallFrame} from '../guard/framing.js';
import {END, Reading} from '../guard/read-tracking.js';
import {cardStyles} from './card-styles.js';
import {visible, visibleText} from '../guard/visible-text.js';
import {waiting} from './pending-requests.js';
import {callsText} from '../grants/grant-text.js';
import {descriptionOf, reasonOf, schemaOf} from './call-texts.js';

/** Longest wait for examples before the offers are shown without them. */
const EXAMPLES_MS = 1000;

/** One pending call: first its complete preview, then all other details, folded, and the ways to decide. */
export class AcApprovalCall extends Localized(LitElement) {
  static properties = {
    call: {attribute: false},
    _isEditing: {state: true},
    _edited: {state: true},
    _offer: {state: true},
    _reason: {state: true},
    _examples: {state: true},
    _isBusy: {state: true},
    _error: {state: true},
  };

  static styles = [base, buttons, fields, badges, cardStyles, css`
    summary { width: fit-content; max-width: 100%; cursor: pointer; color: var(--ac-text-muted); font-size: var(--ac-text-s); border-radius: var(--ac-radius-s); overflow-wrap: anywhere; }
    details[open] > summary { margin-bottom: var(--ac-space-2); }
    .rest { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-3); }
    .rest pre {
      padding: var(--ac-space-2) var(--ac-space-3); border: 1px solid var(--ac-border); border-radius: var(--ac-radius-m); background: var(--ac-surface-sunken);
      font-family: var(--ac-font-mono); font-size: var(--ac-text-s); white-space: pre-wrap; overflow-wrap: anywhere; direction: ltr;
      unicode-bidi: bidi-override; /* the order of the characters themselves, whatever letters they are */
    }
    fieldset { display: grid; gap: var(--ac-space-1); margin: 0; padding: 0; border: 0; font-size: var(--ac-text-s); }
    fieldset label { display: flex; gap: var(--ac-space-2); align-items: baseline; font-weight: normal; }
    fieldset input { flex: none; align-self: start; margin: 0.1875rem 0 0; }
    fieldset span { overflow-wrap: anywhere; min-width: 0; }
    fieldset small { display: block; font-size: var(--ac-text-xs); }
    fieldset label + label { margin-top: var(--ac-space-2); }
    .reason { display: grid; gap: var(--ac-space-1); }
    /* the buttons stand over the end of the card */
    .where { display: flex; align-items: center; gap: var(--ac-space-2); color: var(--ac-text-muted); font-size: var(--ac-text-s); overflow-wrap: anywhere; }
    .reason input { scroll-margin-block-end: 8rem; }
    legend { padding: 0; }
  `];

  constructor() {
    super();
    /** @type {import('./pending-requests.js').WaitingCall | null} */
    this.call = null;
    this._isEditing = false;
    /** The call with the user's arguments, as checked by the server. @type {import('./pending-requests.js').WaitingCall | null} */
    this._edited = null;
    this._offer = -1;
    /** Reason for the rejection; null: the user gives none. @type {string | null} */
    this._reason = null;
    /** Recorded calls that each offer would have allowed. @type {import('./pending-requests.js').Example[][] | null} */
    this._examples = null;
    this._examplesOf = '';
    this._isBusy = false;
    /** @type {import('../../client/client.js').ApiError | null} */
    this._error = null;
    this._reading = new Reading(this);
    this.addEventListener('keydown', (event) => this._onKey(event));
  }

  render() {
    const call = this._edited ?? this.call;
    if (!call) return nothing;
    const isGrave = call.preview?.isProtected || call.effects.includes('dangerous') || call.isDestructive;
    return html`
      <article class=${[isGrave ? 'grave' : '', isCallFrame ? 'bare' : ''].join(' ')} aria-labelledby="tool" tabindex="-1">
        <div class="head">
          <h3 class=${isCallFrame ? 'visually-hidden' : 'tool'} id="tool">${visible(call.tool)}</h3>
          <ac-tool-effects .effects=${call.effects}></ac-tool-effects>
          ${call.isDestructive ? html`<span class="badge danger">${t('approval.destructive')}</span>` : nothing}
        </div>
        ${this._isEditing
    ? html`<ac-approval-edit .value=${call.arguments} .schema=${schemaOf(call)} .error=${this._error} .isBusy=${this._isBusy} @ac-look=${this._look} @ac-cancel=${this._endEdit}></ac-approval-edit>`
    : this._whole(call)}
      </article>`;
  }

  /** Render everything that a decision is based on, and the buttons. @param {import('./pending-requests.js').WaitingCall} call */
  _whole(call) {
    return html`
      ${this._edited ? html`<div class="note info" role="status"><ac-icon name="pencil"></ac-icon><span>${t('approval.edited')}</span></div>` : nothing}
      ${this._notes(call)}
      ${call.host ? html`<p class="where"><ac-icon name="server"></ac-icon><span>${t(call.isOnOtherMachine ? 'approval.onMachine' : 'hosts.wouldRun', {name: visibleText(call.host)})}</span></p>` : nothing}
      <div class="seen">${END}<ac-approval-preview .call=${call}></ac-approval-preview>${END}</div>
      ${this._rest(call)}
      ${call.offers.length ? this._offers(call) : nothing}
      ${this._error ? html`<div class="note danger" role="alert"><ac-icon name="circle-alert"></ac-icon><span>${this._error.message}</span></div>` : nothing}
      ${this._reason === null ? nothing : html`
        <div class="reason"><label for="reason">${t('approval.reason')}</label>
          <input id="reason" maxlength="1000" .value=${this._reason} @input=${(/** @type {InputEvent} */ event) => { this._reason = /** @type {HTMLInputElement} */ (event.target).value; }}></div>`}
      <ac-approval-actions .yes=${t(this._yes())} .no=${t('approval.reject')} .subject=${call.tool} .isBusy=${this._isBusy} .isRead=${this._reading.isDone} @ac-decide=${this._decide}>
        ${this._edited ? html`<button class="quiet" @click=${this._undoEdit}><ac-icon name="undo-2"></ac-icon>${t('approval.asAsked')}</button>` : nothing}
        ${this._reason === null ? html`<button class="quiet" @click=${this._beginReason}><ac-icon name="message-square"></ac-icon>${t('approval.sayWhy')}</button>` : nothing}
        <button class="quiet" @click=${this._beginEdit}><ac-icon name="pencil"></ac-icon>${t('approval.edit')}</button>
      </ac-approval-actions>`;
  }

  _yes() {
    if (this._offer >= 0) return 'approval.approveAlways';
    return this._edited ? 'approval.approveEdited' : 'approval.approve';
  }

  /** @param {import('./pending-requests.js').WaitingCall} call */
  _notes(call) {
    const {preview, untrustedSource, rule, reason, changes} = call;
    return html`
      ${changes.map((change) => html`<div class="note warn" role="status"><ac-icon name="rotate-ccw"></ac-icon><span>${t(`approval.changed.${change}`)}</span></div>`)}
      ${rule.startsWith('preview:') ? html`<div class="note warn"><ac-icon name="triangle-alert"></ac-icon><span>${reasonOf(call)}</span></div>` : nothing}
      ${rule === 'caution' ? html`<div class="note warn"><ac-icon name="triangle-alert"></ac-icon><span>${reason}</span></div>` : nothing}
      ${preview?.isProtected ? html`<div class="note danger"><ac-icon name="shield-alert"></ac-icon><span>${t('approval.protected')}</span></div>` : nothing}
      ${untrustedSource ? html`<div class="note warn"><ac-icon name="triangle-alert"></ac-icon><span>${t(rule === 'untrusted' ? 'approval.untrustedAgain' : 'approval.untrusted', {source: visibleText(untrustedSource)})}</span></div>` : nothing}`;
  }

  /** Render the requester, the reason, and all other details of the call. @param {import('./pending-requests.js').WaitingCall} call */
  _rest(call) {
    const {askedBy, sessionTitle, rule, tool, module, moduleTitle, touches, arguments: args} = call;
    const row = (/** @type {unknown} */ name, /** @type {unknown} */ value) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
    const who = requesterText(askedBy, sessionTitle);
    return html`
      <details>
        <summary>${isCallFrame ? t('approval.detailsOnly') : t('approval.details', {who})}</summary>
        <div class="rest">
          <dl class="facts">
            ${row(t('approval.askedBy'), who)}
            ${row(t('approval.why'), html`${reasonOf(call)}${rule ? html` <code class="muted">${visible(rule)}</code>` : nothing}`)}
            ${row(t('approval.tool'), html`<code>${visible(tool)}</code> ${descriptionOf(call)}`)}
            ${module ? row(t('approval.module'), html`${visible(moduleTitle)} <code class="muted">${module}</code>`) : nothing}
            ${touches.map(({label, values}) => row(inLocale(label), values.map((value) => html`<div class="mono">${visible(value)}</div>`)))}
          </dl>
          <pre aria-label=${t('approval.editLabel')} role="group">${visible(JSON.stringify(args, null, 2))}</pre>
        </div>
      </details>`;
  }

  /** @param {import('./pending-requests.js').WaitingCall} call */
  _offers({offers}) {
    const choice = (/** @type {number} */ number, /** @type {unknown} */ text) => html`
      <label><input type="radio" name="offer" .value=${String(number)} .checked=${this._offer === number} @change=${() => { this._offer = number; }}><span>${text}</span></label>`;
    return html`
      <details>
        <summary @click=${this._openOffers}>${t('approval.offers')}: ${this._offer < 0 ? t('approval.offerNone') : shortOfferText(offers[this._offer])}</summary>
        <fieldset>
          <legend class="visually-hidden">${t('approval.offers')}</legend>
          ${choice(-1, t('approval.offerNone'))}
          ${offers.map((offer, number) => choice(number, this._offerText(offer, number)))}
        </fieldset>
      </details>`;
  }

  /** Render what an offer allows: in words, in full, and by examples. @param {import('./pending-requests.js').Offer} offer @param {number} number */
  _offerText(offer, number) {
    const examples = this._edited ? null : this._examples?.[number]; // they are about the call as it was asked for
    return html`${shortOfferText(offer)}
      <small class="muted full">${offerText(offer)}</small>
      ${examples ? html`<small class="muted">${examples.length ? t('approval.offerExamples') : t('approval.offerNoExamples')}
        ${examples.map(({tool, text}) => html` <code>${offer.tool === '*' ? html`${visible(tool)} ` : nothing}${visible(text)}</code>`)}</small>` : nothing}`;
  }

  /** Show the offers with recorded calls like this one, or without them if they take long: what the user aims at stays where it is. @param {Event} event */
  async _openOffers(event) {
    const {call} = this;
    const details = /** @type {HTMLDetailsElement} */ (/** @type {HTMLElement} */ (event.currentTarget).parentElement);
    if (details.open || !call || this._examplesOf === call.digest) return;
    event.preventDefault();
    this._examplesOf = call.digest;
    const loading = waiting.examples(call).catch(() => null);
    const examples = await Promise.race([loading, new Promise((resolve) => setTimeout(resolve, EXAMPLES_MS, null))]);
    if (this.call?.digest !== call.digest) return;
    this._examples = examples;
    await this.updateComplete;
    details.open = true;
  }

  updated() {
    this._reading.watch((this._edited ?? this.call)?.digest, this.renderRoot.querySelectorAll('.end'));
  }

  _beginEdit() {
    this._isEditing = true;
    this._error = null;
    this._offer = -1;
  }

  async _beginReason() {
    this._reason = '';
    await this.updateComplete;
    /** @type {HTMLInputElement | null} */ (this.renderRoot.querySelector('#reason'))?.focus();
  }

  _endEdit() {
    this._isEditing = false;
    this._error = null;
    void this._showAnew();
  }

  _undoEdit() {
    this._edited = null;
    this._offer = -1;
    this._endEdit();
  }

  /** Restart the buttons' delay, because another call is under the pointer now, and return the keyboard focus to the card. */
  async _showAnew() {
    await this.updateComplete;
    startOver();
    this.renderRoot.querySelector('article')?.focus();
  }

  /** Let the server check the call with other arguments. @param {CustomEvent<{value: Record<string, unknown>}>} event */
  async _look({detail: {value}}) {
    this._isBusy = true;
    this._error = null;
    try {
      this._edited = await waiting.edit(/** @type {import('./pending-requests.js').WaitingCall} */ (this.call), value);
      this._endEdit();
    } catch (error) {
      await this._failed(error);
    } finally {
      this._isBusy = false;
    }
  }

  /** @param {KeyboardEvent} event */
  _onKey(event) {
    if (event.key === 'Escape' && this._isEditing) this._endEdit();
    const approved = {Enter: true, Backspace: false}[event.key];
    if (approved === undefined || !(event.ctrlKey || event.metaKey) || this._isEditing) return;
    event.preventDefault();
    /** @type {import('./ac-approval-actions.js').AcApprovalActions | null} */ (this.renderRoot.querySelector('ac-approval-actions'))?.decideByKey(event, approved);
  }

  /** @param {CustomEvent<{approved: boolean}>} event */
  async _decide({detail: {approved}}) {
    const call = /** @type {import('./pending-requests.js').WaitingCall} */ (this._edited ?? this.call);
    this._isBusy = true;
    this._error = null;
    const offer = approved && this._offer >= 0 ? {offer: this._offer} : {};
    try {
      await waiting.decide(call, {approved, ...offer, ...(!approved && this._reason ? {reason: this._reason} : {})});
    } catch (error) {
      await this._failed(error);
    } finally {
      this._isBusy = false;
    }
  }

  /** @param {unknown} error */
  async _failed(error) {
    this._error = /** @type {import('../../client/client.js').ApiError} */ (error);
    if (this._error.status === 409) this._edited = null; // the server no longer knows it
    if (this._error.status === 404 || this._error.status === 409) await waiting.load();
  }
}

/** Render in words what an offer allows. @param {import('./pending-requests.js').Offer} offer */
function shortOfferText({scope, tool, arguments: patterns}) {
  return html`${t(`approval.scope.${scope}`)}: ${visible(callsText(tool, patterns))}`;
}

/** Render in full what an offer allows. @param {import('./pending-requests.js').Offer} offer */
function offerText({scope, tool, arguments: patterns}) {
  const rows = Object.entries(patterns);
  return html`${t(`approval.scope.${scope}`)} <code>${visible(tool)}</code>
    ${rows.length ? rows.map(([name, pattern], index) => html`${index ? t('approval.and') : t('approval.with')} <code>${visible(name)} = ${visible(pattern)}</code> `) : t('approval.anyArguments')}`;
}

customElements.define('ac-approval-call', AcApprovalCall);
