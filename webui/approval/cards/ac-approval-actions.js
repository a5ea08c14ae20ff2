import {LitElement, css, html, nothing} from 'lit';
import '../../ui/ac-icon.js';
import {Localized, t} from '../../base/i18n.js';
import {base, buttons} from '../../ui/styles.js';
import {Attention, canDecideHere} from '../guard/attention.js';

/**
 * Yes and no to one thing that waits. A click counts when a person makes it, half a second after they could see this.
 * @fires ac-decide {approved: boolean}
 * @slot - further buttons
 */
export class AcApprovalActions extends Localized(LitElement) {
  static properties = {yes: {}, no: {}, subject: {}, isBusy: {attribute: false}};

  static styles = [base, buttons, css`
    .row { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-2); }
    button[aria-disabled="true"] { cursor: wait; opacity: 0.6; }
    button.yes { min-width: 6rem; }
    .rest { margin-inline-start: auto; display: flex; gap: var(--ac-space-2); }
    @media (max-width: 30rem) { .row > button { flex: 1 1 8rem; } }
  `];

  constructor() {
    super();
    this.yes = '';
    this.no = '';
    /** What is decided on, for screen readers. */
    this.subject = '';
    this.isBusy = false;
    this._attention = new Attention(this);
  }

  render() {
    if (!canDecideHere) {
      return html`<div class="row"><a class="button primary" href="/" target="_blank" rel="noopener"><ac-icon name="external-link"></ac-icon>${t('approval.decideInWindow')}</a></div>`;
    }
    const isOff = this.isBusy || !this._attention.isArmed;
    return html`
      <div class="row" id="row">
        <button class="primary yes" aria-disabled=${isOff} aria-busy=${this.isBusy} aria-label=${`${this.yes}: ${this.subject}`} @click=${(/** @type {Event} */ event) => this._decide(event, true)}>
          ${this.isBusy ? html`<ac-icon name="loader-circle"></ac-icon>` : nothing}${this.yes}</button>
        <button class="danger no" aria-disabled=${isOff} aria-label=${`${this.no}: ${this.subject}`} @click=${(/** @type {Event} */ event) => this._decide(event, false)}>${this.no}</button>
        <span class="rest"><slot></slot></span>
      </div>`;
  }

  updated() {
    this._attention.watch(this.renderRoot.querySelector('#row'));
  }

  /** By the keyboard, from anywhere in the card. @param {KeyboardEvent} event @param {boolean} approved */
  decideByKey(event, approved) {
    if (!event.repeat) this._decide(event, approved);
  }

  /** @param {Event} event @param {boolean} approved */
  _decide(event, approved) {
    // what a script makes up is no decision, and neither is a click on what could not be seen
    if (!event.isTrusted || !this._attention.isArmed || this.isBusy) return;
    this.dispatchEvent(new CustomEvent('ac-decide', {detail: {approved}}));
  }
}

customElements.define('ac-approval-actions', AcApprovalActions);
