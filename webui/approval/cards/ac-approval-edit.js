import {LitElement, css, html, nothing} from 'lit';
import '../../form/ac-schema-form.js';
import {Localized, t} from '../../base/i18n.js';
import {base, buttons, fields} from '../../ui/styles.js';

/**
 * Editor for the arguments of a call: a form from the tool's schema, or the same as JSON.
 * @fires ac-look {value: Record<string, unknown>}  a check of the call with these arguments is requested
 * @fires ac-cancel
 */
export class AcApprovalEdit extends Localized(LitElement) {
  static properties = {
    value: {attribute: false},
    schema: {attribute: false},
    error: {attribute: false},
    isBusy: {attribute: false},
    _value: {state: true},
  };

  static styles = [base, buttons, fields, css`
    :host { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-2); }
    h4 { font-size: var(--ac-text-s); }
    .row { display: flex; flex-wrap: wrap; gap: var(--ac-space-2); }
  `];

  constructor() {
    super();
    /** @type {Record<string, unknown>} */
    this.value = {};
    /** Schema of the arguments. @type {any} */
    this.schema = {};
    /** The server's error for these arguments. @type {import('../../client/client.js').ApiError | null} */
    this.error = null;
    this.isBusy = false;
    /** The arguments as edited; null: not edited yet. @type {Record<string, unknown> | null} */
    this._value = null;
    this.addEventListener('keydown', (event) => this._onKey(event));
  }

  render() {
    const errors = /** @type {{path: string, message: string}[]} */ (this.error?.context?.errors ?? []);
    const hasForm = Object.keys(this.schema?.properties ?? {}).length > 0;
    return html`
      <ac-schema-form view=${hasForm ? 'form' : 'json'} .schema=${this.schema} .value=${this._value ?? this.value} .errors=${errors} @ac-change=${this._onChange}>
        <h4 slot="heading">${t('approval.editHeading')}</h4>
      </ac-schema-form>
      <div class="field-error" role="alert">${this.error && !errors.length ? this.error.message : nothing}</div>
      <div class="row">
        <button class="primary" aria-disabled=${this.isBusy} @click=${this._look}>${t('approval.look')}</button>
        <button class="quiet" @click=${() => this.dispatchEvent(new CustomEvent('ac-cancel'))}>${t('approval.cancelEdit')}</button>
      </div>`;
  }

  async firstUpdated() {
    await this._form?.updateComplete;
    this._form?.focus();
  }

  get _form() {
    return /** @type {import('../../form/ac-schema-form.js').AcSchemaForm | null} */ (this.renderRoot.querySelector('ac-schema-form'));
  }

  /** @param {CustomEvent<{value: Record<string, unknown>}>} event */
  _onChange(event) {
    event.stopPropagation();
    this._value = event.detail.value;
  }

  _look() {
    // what the server finds wrong is shown at its field; here only what cannot be sent is held back
    if (this.isBusy || this._form?.hasTextError) return this._form?.focus();
    this.dispatchEvent(new CustomEvent('ac-look', {detail: {value: this._value ?? this.value}}));
  }

  /** @param {KeyboardEvent} event */
  _onKey(event) {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !event.repeat) this._look();
  }
}

customElements.define('ac-approval-edit', AcApprovalEdit);
