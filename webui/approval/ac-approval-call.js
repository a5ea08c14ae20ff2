import {LitElement, css, html, nothing} from 'lit';
import '../components/ac-diff.js';
import '../components/ac-icon.js';
import '../components/ac-tool-effects.js';
import {Localized, t} from '../i18n.js';
import {badges, base, buttons, fields} from '../styles.js';
import './ac-approval-actions.js';
import './ac-approval-arguments.js';
import './ac-approval-countdown.js';
import './ac-approval-edit.js';
import {askerText} from './asker.js';
import {cardStyles} from './card-styles.js';
import {visible, visibleText} from './visible.js';
import {waiting} from './waiting.js';

/** One call that waits: all of it, and what a person can say to it. */
export class AcApprovalCall extends Localized(LitElement) {
  static properties = {
    call: {attribute: false}, _isEditing: {state: true}, _edited: {state: true}, _offer: {state: true}, _isBusy: {state: true}, _error: {state: true},
  };

  static styles = [base, buttons, fields, badges, cardStyles, css`
    fieldset { display: grid; gap: var(--ac-space-1); margin: 0; padding: 0; border: 0; font-size: var(--ac-text-s); }
    fieldset label { display: flex; gap: var(--ac-space-2); align-items: baseline; font-weight: normal; }
    fieldset input { flex: none; align-self: start; margin: 0.1875rem 0 0; }
    fieldset span { overflow-wrap: anywhere; min-width: 0; }
    legend { padding: 0; margin-bottom: var(--ac-space-1); color: var(--ac-text-muted); font-weight: var(--ac-weight-medium); }
  `];

  constructor() {
    super();
    /** @type {import('./waiting.js').WaitingCall | null} */
    this.call = null;
    this._isEditing = false;
    /** What the person made of the arguments; null: no JSON object. @type {Record<string, unknown> | null} */
    this._edited = null;
    this._offer = -1;
    this._isBusy = false;
    /** @type {import('../client.js').ApiError | null} */
    this._error = null;
    this.addEventListener('keydown', (event) => this._onKey(event));
  }

  render() {
    const {call} = this;
    if (!call) return nothing;
    const isGrave = call.preview?.isProtected || call.effects.includes('dangerous') || call.isDestructive;
    return html`
      <article class=${isGrave ? 'grave' : ''} aria-labelledby="tool">
        <div class="head">
          <h3 class="tool" id="tool">${visible(call.tool)}</h3>
          <ac-tool-effects .effects=${call.effects}></ac-tool-effects>
          ${call.isDestructive ? html`<span class="badge danger">${t('approval.destructive')}</span>` : nothing}
          <ac-approval-countdown .until=${call.expiresAt}></ac-approval-countdown>
        </div>
        <p class="about">${call.description.split('\n', 1)[0]}</p>
        ${this._notes(call)}
        ${this._facts(call)}
        ${this._isEditing
    ? html`<ac-approval-edit .value=${call.arguments} .error=${this._error} @ac-edited=${this._onEdited}></ac-approval-edit>`
    : html`<ac-approval-arguments .call=${call}></ac-approval-arguments>`}
        ${call.preview?.diff && !this._isEditing ? html`<ac-diff .text=${visibleText(call.preview.diff)}></ac-diff>` : nothing}
        ${call.offers.length && !this._isEditing ? this._offers(call) : nothing}
        ${this._error && !this._isEditing ? html`<div class="note danger" role="alert"><ac-icon name="circle-alert"></ac-icon><span>${this._error.message}</span></div>` : nothing}
        <ac-approval-actions .yes=${t(this._yes())} .no=${t('approval.reject')} .subject=${call.tool} .isBusy=${this._isBusy}
          .isBlocked=${this._isEditing && this._edited === null} @ac-decide=${this._decide}>
          <button class="quiet" @click=${this._toggleEdit}><ac-icon name=${this._isEditing ? 'undo-2' : 'pencil'}></ac-icon>${t(this._isEditing ? 'approval.asAsked' : 'approval.edit')}</button>
        </ac-approval-actions>
      </article>`;
  }

  _yes() {
    if (this._isEditing) return 'approval.approveEdited';
    return this._offer >= 0 ? 'approval.approveAlways' : 'approval.approve';
  }

  /** @param {import('./waiting.js').WaitingCall} call */
  _notes({preview, untrustedSource}) {
    return html`
      ${preview?.isProtected ? html`<div class="note danger"><ac-icon name="shield-alert"></ac-icon><span>${t('approval.protected')}</span></div>` : nothing}
      ${untrustedSource ? html`<div class="note warn"><ac-icon name="triangle-alert"></ac-icon><span>${t('approval.untrusted', {source: visibleText(untrustedSource)})}</span></div>` : nothing}`;
  }

  /** @param {import('./waiting.js').WaitingCall} call */
  _facts({askedBy, sessionId, reason, rule, module, moduleTitle, preview}) {
    const row = (/** @type {string} */ name, /** @type {unknown} */ value) => html`<div><dt>${t(`approval.${name}`)}</dt><dd>${value}</dd></div>`;
    return html`
      <dl class="facts">
        ${row('askedBy', askerText(askedBy, sessionId))}
        ${row('why', html`${reason}${rule ? html` <code class="muted">${visible(rule)}</code>` : nothing}`)}
        ${module ? row('module', html`${visible(moduleTitle)} <code class="muted">${module}</code>`) : nothing}
        ${preview?.paths.length ? row('paths', preview.paths.map((path) => html`<div class="mono">${visible(path)}</div>`)) : nothing}
        ${preview?.cwd ? row('cwd', html`<span class="mono">${visible(preview.cwd)}</span>`) : nothing}
        ${preview?.urls.length ? row('urls', preview.urls.map((url) => html`<div class="mono">${visible(url)}</div>`)) : nothing}
      </dl>`;
  }

  /** @param {import('./waiting.js').WaitingCall} call */
  _offers({offers}) {
    const choice = (/** @type {number} */ number, /** @type {unknown} */ text) => html`
      <label><input type="radio" name="offer" .value=${String(number)} .checked=${this._offer === number} @change=${() => { this._offer = number; }}><span>${text}</span></label>`;
    return html`
      <fieldset>
        <legend>${t('approval.offers')}</legend>
        ${choice(-1, t('approval.offerNone'))}
        ${offers.map((offer, number) => choice(number, offerText(offer)))}
      </fieldset>`;
  }

  _toggleEdit() {
    this._isEditing = !this._isEditing;
    this._edited = this._isEditing ? this.call?.arguments ?? null : null;
    this._error = null;
    this._offer = -1;
  }

  /** @param {CustomEvent<{value: Record<string, unknown> | null}>} event */
  _onEdited({detail: {value}}) {
    this._edited = value;
    this._error = null;
  }

  /** @param {KeyboardEvent} event */
  _onKey(event) {
    if (event.key === 'Escape' && this._isEditing) this._toggleEdit();
    const approved = {Enter: true, Backspace: false}[event.key];
    if (approved === undefined || !(event.ctrlKey || event.metaKey) || (this._isEditing && !approved)) return;
    event.preventDefault();
    /** @type {import('./ac-approval-actions.js').AcApprovalActions | null} */ (this.renderRoot.querySelector('ac-approval-actions'))?.decideByKey(event, approved);
  }

  /** @param {CustomEvent<{approved: boolean}>} event */
  async _decide({detail: {approved}}) {
    const call = /** @type {import('./waiting.js').WaitingCall} */ (this.call);
    this._isBusy = true;
    this._error = null;
    const edited = approved && this._isEditing && this._edited ? {arguments: this._edited} : {};
    const offer = approved && this._offer >= 0 ? {offer: this._offer} : {};
    try {
      await waiting.decide(call, {approved, ...edited, ...offer});
    } catch (error) {
      this._error = /** @type {import('../client.js').ApiError} */ (error);
      if (this._error.status === 404 || this._error.status === 409) await waiting.load();
    } finally {
      this._isBusy = false;
    }
  }
}

/** What an offer allows, shown in full. @param {import('./waiting.js').Offer} offer */
function offerText({scope, tool, arguments: patterns}) {
  const rows = Object.entries(patterns);
  return html`${t(`approval.scope.${scope}`)} <code>${visible(tool)}</code>
    ${rows.length ? rows.map(([name, pattern], index) => html`${index ? t('approval.and') : t('approval.with')} <code>${visible(name)} = ${visible(pattern)}</code> `) : t('approval.anyArguments')}`;
}

customElements.define('ac-approval-call', AcApprovalCall);
