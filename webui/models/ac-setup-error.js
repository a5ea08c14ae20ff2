import {LitElement, css, html, nothing} from 'lit';
import {client} from '../client/client.js';
import {Localized, t} from '../base/i18n.js';
import {Listening} from '../base/subscriptions.js';
import {base, buttons, code, fields} from '../ui/styles.js';
import {detailsOf, toldOf} from './provider-error.js';
import '../ui/ac-icon.js';

/**
 * Why a key or a model was not accepted: the error, or that it is pending until the user has decided.
 * @fires ac-show-approvals {}  the user wants to decide, which is only possible in the approval view
 */
export class AcSetupError extends Localized(LitElement) {
  static properties = {
    error: {attribute: false},
    _decided: {state: true},
  };

  static styles = [base, buttons, code, fields, css`
    .notice { display: flex; gap: var(--ac-space-2); padding: var(--ac-space-2) var(--ac-space-3); border-radius: var(--ac-radius-m); background: var(--ac-warn-soft); font-size: var(--ac-text-s); }
    details { margin-top: var(--ac-space-1); font-size: var(--ac-text-s); }
    summary { width: fit-content; cursor: pointer; color: var(--ac-text-muted); border-radius: var(--ac-radius-s); }
    pre.code { margin-top: var(--ac-space-2); }
    .notice ac-icon { color: var(--ac-warn); margin-top: 0.15rem; }
  `];

  constructor() {
    super();
    /** @type {import('../client/client.js').ApiError | null} */
    this.error = null;
    this._decided = '';
    new Listening(this, () => [client.on('policy.decided', ({changeId}) => { this._decided = changeId; })]);
  }

  render() {
    const isOver = this.error?.type === 'confirmation_required' && this.error.context.changeId === this._decided;
    this.hidden = !this.error || isOver;
    if (!this.error || isOver) return nothing;
    if (this.error.type !== 'confirmation_required') return this._renderFailure(this.error);
    return html`<p class="notice" role="alert"><ac-icon name="shield"></ac-icon><span>${t('models.confirmKey')}
      <button type="button" class="small" @click=${this._showApprovals}>${t('chat.review')}</button></span></p>`;
  }

  /** @param {import('../client/client.js').ApiError} error */
  _renderFailure(error) {
    return html`
      <p class="field-error" role="alert">${toldOf(error)}</p>
      ${error.context?.detail ? html`<details><summary>${t('ui.details')}</summary><pre class="code wrap" tabindex="0">${detailsOf(error)}</pre></details>` : nothing}`;
  }

  _showApprovals() {
    if (this.error) toConfirmation(this, this.error);
  }
}

/** Lead the user to the approval view if their change needs a confirmation. @param {HTMLElement} from @param {import('../client/client.js').ApiError} error */
export function toConfirmation(from, error) {
  if (error.type === 'confirmation_required') from.dispatchEvent(new CustomEvent('ac-show-approvals', {detail: {}, bubbles: true, composed: true}));
}
customElements.define('ac-setup-error', AcSetupError);
