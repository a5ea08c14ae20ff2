import {LitElement, css, html, nothing} from 'lit';
import '../../ui/ac-icon.js';
import {Localized, hasText, t} from '../../base/i18n.js';
import {base} from '../../ui/styles.js';
import './ac-approval-actions.js';
import './ac-approval-countdown.js';
import {END, Reading} from '../guard/read-tracking.js';
import {cardStyles} from './card-styles.js';
import {SCOPES} from './scopes.js';
import {visible, visibleText} from '../guard/visible-text.js';
import {waiting} from './pending-requests.js';

/** Pairing request of one client: what it reports about itself, and the scopes that the user chooses for it. */
export class AcApprovalPairing extends Localized(LitElement) {
  static properties = {
    pairing: {attribute: false},
    _scopes: {state: true},
    _isBusy: {state: true},
    _error: {state: true},
  };

  static styles = [base, cardStyles, css`
    fieldset { display: grid; gap: var(--ac-space-2); margin: 0; padding: 0; border: 0; }
    legend { padding: 0; margin-bottom: var(--ac-space-2); color: var(--ac-text-muted); font-size: var(--ac-text-s); font-weight: var(--ac-weight-medium); }
    label { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 0 var(--ac-space-2); font-weight: normal; }
    label input { grid-row: span 2; align-self: start; margin: 0.25rem 0 0; }
    label strong { font-weight: var(--ac-weight-medium); }
    label span { color: var(--ac-text-muted); font-size: var(--ac-text-s); }
  `];

  constructor() {
    super();
    /** @type {import('./pending-requests.js').WaitingPairing | null} */
    this.pairing = null;
    /** Scopes that the user chose; null: none yet, so the requested ones are checked. @type {Set<string> | null} */
    this._scopes = null;
    this._isBusy = false;
    this._error = '';
    this._reading = new Reading(this);
  }

  render() {
    const {pairing} = this;
    if (!pairing) return nothing;
    const name = visibleText(pairing.name);
    return html`
      <article class="grave" aria-labelledby="heading">
        <div class="head"><h3 id="heading">${t('approval.pairing', {name})}</h3><ac-approval-countdown .until=${pairing.expiresAt}></ac-approval-countdown></div>
        <div class="seen">${END}
        <div class="note warn"><ac-icon name="shield-alert"></ac-icon><span>${t('approval.pairingText')}</span></div>
        <dl class="facts">
          <div><dt>${t('approval.pairingKind')}</dt><dd>${hasText(`approval.kind.${pairing.kind}`) ? t(`approval.kind.${pairing.kind}`) : visible(pairing.kind)}</dd></div>
          <div><dt>${t('approval.pairingOrigin')}</dt><dd>${pairing.origin ? html`<code>${visible(pairing.origin)}</code>` : t('approval.noOrigin')}</dd></div>
        </dl>
        <fieldset>
          <legend>${t('approval.scopes')}</legend>
          ${SCOPES.map((scope) => html`
            <label><input type="checkbox" .checked=${this._chosen.has(scope)} @change=${(/** @type {Event} */ event) => this._choose(event, scope)}>
              <strong>${t(`approval.keyScope.${scope}`)}</strong><span>${t(`approval.keyScopeText.${scope}`)}</span></label>`)}
        </fieldset>
        ${END}</div>
        ${this._error ? html`<div class="note danger" role="alert"><ac-icon name="circle-alert"></ac-icon><span>${this._error}</span></div>` : nothing}
        <ac-approval-actions .yes=${t('approval.pairYes')} .no=${t('approval.refuse')} .subject=${name} .isBusy=${this._isBusy} .isRead=${this._reading.isDone} @ac-decide=${this._decide}></ac-approval-actions>
      </article>`;
  }

  updated() {
    this._reading.watch(this.pairing?.pairingId, this.renderRoot.querySelectorAll('.end'));
  }

  get _chosen() {
    return this._scopes ?? new Set(this.pairing?.scopes);
  }

  /** @param {Event} event @param {string} scope */
  _choose(event, scope) {
    const chosen = new Set(this._chosen);
    const {checked} = /** @type {HTMLInputElement} */ (event.target);
    // ignore events created by scripts
    if (event.isTrusted && checked) chosen.add(scope);
    else if (event.isTrusted) chosen.delete(scope);
    this._scopes = chosen;
    this._error = '';
  }

  /** @param {CustomEvent<{approved: boolean}>} event */
  async _decide({detail: {approved}}) {
    const scopes = [...this._chosen];
    if (approved && !scopes.length) {
      this._error = t('approval.noScope');
      return;
    }
    this._isBusy = true;
    try {
      await waiting.decidePairing(/** @type {import('./pending-requests.js').WaitingPairing} */ (this.pairing), approved ? scopes : []);
    } catch (error) {
      // each client is decided once, so the card is gone by then: the view shows why it was not paired
      this.dispatchEvent(new CustomEvent('ac-failed', {detail: {error}, bubbles: true, composed: true}));
    } finally {
      this._isBusy = false;
    }
  }
}

customElements.define('ac-approval-pairing', AcApprovalPairing);
