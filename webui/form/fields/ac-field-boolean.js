import {css, html, nothing} from 'lit';
import {live} from 'lit/directives/live.js';
import {t} from '../../base/i18n.js';
import {FieldElement, withCode} from './field-element.js';

/** Boolean field: a checkbox, or a select with "not set" if the value may be unset. */
export class AcFieldBoolean extends FieldElement {
  static styles = [FieldElement.styles, css`
    .check { display: grid; grid-template-columns: auto 1fr; gap: 0 var(--ac-space-2); align-items: baseline; padding-block: var(--ac-space-1); }
    .check input { align-self: center; margin: 0; }
    .check .rest { grid-column: 2; display: grid; gap: var(--ac-space-1); }
  `];

  render() {
    const hasDefault = typeof this.schema.default === 'boolean';
    const isTwoFold = !this.shape.isNullable && (this.field.isRequired || hasDefault);
    return isTwoFold ? this._renderCheck() : this.renderFrame(this._renderChoice());
  }

  _renderCheck() {
    const {description} = this.schema;
    return html`
      <div class="check" part="frame">
        <input id="control" type="checkbox" .checked=${live(this.value ?? this.schema.default ?? false)}
          aria-label=${this.spokenLabel} aria-describedby=${this.described} aria-invalid=${this.invalid}
          ?disabled=${this.isDisabled} @change=${(/** @type {Event} */ event) => this.change(/** @type {HTMLInputElement} */ (event.target).checked)}>
        <div class="head">${this.field.isBare ? nothing : html`<label for="control">${this.field.label}</label>`}</div>
        <div class="rest">
          ${description && !this.field.isBare ? html`<p class="hint" id="hint">${withCode(description)}</p>` : nothing}
          ${this.renderNotes()}
        </div>
      </div>`;
  }

  _renderChoice() {
    const shown = this.value === undefined || this.value === null ? '' : String(this.value);
    const options = [['', t('form.notSet')], ['true', t('form.yes')], ['false', t('form.no')]];
    return html`
      <select id="control" aria-label=${this.spokenLabel} aria-describedby=${this.described} aria-invalid=${this.invalid}
        ?disabled=${this.isDisabled} .value=${live(shown)} @change=${this._onSelect}>
        ${options.map(([value, label]) => html`<option value=${value} ?selected=${value === shown}>${label}</option>`)}
      </select>`;
  }

  /** @param {Event} event */
  _onSelect(event) {
    const {value} = /** @type {HTMLSelectElement} */ (event.target);
    const unset = this.shape.isNullable && this.field.isRequired ? null : undefined;
    this.change(value === '' ? unset : value === 'true');
  }
}
customElements.define('ac-field-boolean', AcFieldBoolean);
