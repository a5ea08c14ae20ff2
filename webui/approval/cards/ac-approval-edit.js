import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../../base/i18n.js';
import {base, buttons, fields} from '../../ui/styles.js';

/**
 * Editor for the arguments of a call as JSON; errors are shown at once.
 * @fires ac-look {value: Record<string, unknown>}  a check of the call with these arguments is requested
 * @fires ac-cancel
 */
export class AcApprovalEdit extends Localized(LitElement) {
  static properties = {
    value: {attribute: false},
    error: {attribute: false},
    isBusy: {attribute: false},
    _fault: {state: true},
  };

  static styles = [base, buttons, fields, css`
    :host { display: grid; gap: var(--ac-space-1); }
    textarea { width: 100%; min-height: 8rem; font-family: var(--ac-font-mono); font-size: var(--ac-text-s); tab-size: 2; direction: ltr; }
    ul { display: grid; gap: var(--ac-space-1); }
    .row { display: flex; flex-wrap: wrap; gap: var(--ac-space-2); margin-top: var(--ac-space-2); }
  `];

  constructor() {
    super();
    /** @type {Record<string, unknown>} */
    this.value = {};
    /** The server's error for these arguments. @type {import('../../client/client.js').ApiError | null} */
    this.error = null;
    this.isBusy = false;
    this._fault = '';
    /** The parsed input; null: not a JSON object. @type {Record<string, unknown> | null} */
    this._read = null;
  }

  render() {
    const errors = /** @type {{path: string, message: string}[]} */ (this.error?.context?.errors ?? []);
    return html`
      <label for="json">${t('approval.editLabel')}</label>
      <textarea id="json" spellcheck="false" rows="8" aria-invalid=${Boolean(this._fault || this.error)} aria-describedby="fault"
        @input=${this._onInput} @keydown=${this._onKey}></textarea>
      <div id="fault" class="field-error" role="alert">
        ${this._fault || this.error?.message || nothing}
        ${errors.length ? html`<ul>${errors.map(({path, message}) => html`<li><code>${path || '/'}</code> ${message}</li>`)}</ul>` : nothing}
      </div>
      <div class="row">
        <button class="primary" aria-disabled=${this.isBusy || !this._read} @click=${this._look}>${t('approval.look')}</button>
        <button class="quiet" @click=${() => this.dispatchEvent(new CustomEvent('ac-cancel'))}>${t('approval.cancelEdit')}</button>
      </div>`;
  }

  firstUpdated() {
    const area = /** @type {HTMLTextAreaElement} */ (this.renderRoot.querySelector('textarea'));
    // the value is only the initial text: later renders must not overwrite the user's input
    area.value = JSON.stringify(this.value, null, 2);
    this._read = this.value;
    this.requestUpdate();
    area.focus();
  }

  _look() {
    if (!this.isBusy && this._read) this.dispatchEvent(new CustomEvent('ac-look', {detail: {value: this._read}}));
  }

  /** @param {KeyboardEvent} event */
  _onKey(event) {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !event.repeat) this._look();
  }

  /** @param {InputEvent} event */
  _onInput(event) {
    const {value} = /** @type {HTMLTextAreaElement} */ (event.target);
    this._read = null;
    try {
      const found = JSON.parse(value);
      const isObject = found !== null && typeof found === 'object' && !Array.isArray(found);
      this._fault = isObject ? '' : t('approval.notAnObject');
      this._read = isObject ? found : null;
    } catch (error) {
      this._fault = t('approval.notJson', {reason: /** @type {Error} */ (error).message});
    }
    this.requestUpdate();
  }
}

customElements.define('ac-approval-edit', AcApprovalEdit);
