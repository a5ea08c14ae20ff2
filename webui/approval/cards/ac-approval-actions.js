import {LitElement, css, html, nothing} from 'lit';
import '../../ui/ac-icon.js';
import {Localized, t} from '../../base/i18n.js';
import {Listening} from '../../base/subscriptions.js';
import {base, buttons} from '../../ui/styles.js';
import {Attention} from '../guard/button-arming.js';
import {ownWindow} from '../guard/framing.js';
import {canDecideHere} from '../guard/element-visibility.js';
import {waiting} from './pending-requests.js';

/**
 * Buttons to approve or reject one pending request. Only the user's own clicks count, half a second after the buttons became
 * visible; approving also requires that the whole request has been seen.
 * @fires ac-decide {approved: boolean}
 * @slot - further buttons
 */
export class AcApprovalActions extends Localized(LitElement) {
  static properties = {
    yes: {},
    no: {},
    subject: {},
    isBusy: {attribute: false},
    isRead: {attribute: false},
  };

  static styles = [base, buttons, css`
    :host { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-1); }
    .row { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-2); }
    button[aria-disabled="true"] { cursor: not-allowed; opacity: 0.6; }
    button.yes { min-width: 6rem; }
    .rest { margin-inline-start: auto; display: flex; flex-wrap: wrap; gap: var(--ac-space-2); }
    /* it keeps its line, so that the buttons stay where they are when it goes */
    .waits { min-height: 1.25rem; color: var(--ac-text-muted); font-size: var(--ac-text-s); overflow-wrap: anywhere; }
    @media (max-width: 36rem) {
      .row > button { flex: 1 1 8rem; min-height: 2.75rem; }
      .rest { margin-inline: auto; justify-content: center; }
    }
  `];

  constructor() {
    super();
    this.yes = '';
    this.no = '';
    /** Name of the request, for screen readers. */
    this.subject = '';
    this.isBusy = false;
    /** True once the whole request has been seen. */
    this.isRead = false;
    this._attention = new Attention(this);
    new Listening(this, () => [waiting.subscribe(() => this.requestUpdate())]);
  }

  render() {
    if (!canDecideHere) {
      return html`
        <div class="row"><a class="button primary" href=${ownWindow()} target="_blank" rel="noopener"><ac-icon name="external-link"></ac-icon>${t('approval.decideInWindow')}</a></div>
        <p class="waits">${t('approval.decideInWindowText')}</p>`;
    }
    return html`
      <div class="row" id="row">
        <button class="primary yes" aria-disabled=${!this._counts(true)} aria-busy=${this.isBusy} aria-label=${`${this.yes}: ${this.subject}`} aria-describedby="waits" @click=${(/** @type {Event} */ event) => this._decide(event, true)}>
          ${this.isBusy ? html`<ac-icon name="loader-circle"></ac-icon>` : nothing}${this.yes}</button>
        <button class="danger no" aria-disabled=${!this._counts(false)} aria-label=${`${this.no}: ${this.subject}`} @click=${(/** @type {Event} */ event) => this._decide(event, false)}>${this.no}</button>
        <span class="rest" ?hidden=${this.childElementCount === 0}><slot @slotchange=${() => this.requestUpdate()}></slot></span>
      </div>
      <p class="waits" id="waits">${this._waits()}</p>`;
  }

  updated() {
    this._attention.watch(this.renderRoot.querySelector('#row'));
  }

  /** Return the text that explains why the request cannot be approved yet. */
  _waits() {
    if (this.isBusy) return nothing;
    if (!waiting.isReachable) return t('approval.waitsFor.server');
    if (!this.isRead) return t('approval.waitsFor.reading');
    if (!this._attention.isSeen) return t('approval.waitsFor.sight');
    return this._attention.isArmed ? nothing : t('approval.waitsFor.moment');
  }

  /** Return true if a click counts now. @param {boolean} approved */
  _counts(approved) {
    return !this.isBusy && waiting.isReachable && this._attention.isArmed && (this.isRead || !approved);
  }

  /** Decide by the keyboard, from anywhere in the card. @param {KeyboardEvent} event @param {boolean} approved */
  decideByKey(event, approved) {
    if (!event.repeat) this._decide(event, approved);
  }

  /** @param {Event} event @param {boolean} approved */
  _decide(event, approved) {
    // ignore events created by scripts, and clicks on what could not be seen
    if (!event.isTrusted || !this._counts(approved)) return;
    this.dispatchEvent(new CustomEvent('ac-decide', {detail: {approved}}));
  }
}

customElements.define('ac-approval-actions', AcApprovalActions);
