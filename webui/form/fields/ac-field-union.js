import {css, html, nothing} from 'lit';
import {live} from 'lit/directives/live.js';
import {t} from '../../base/i18n.js';
import {FieldElement} from './field-element.js';
import {fieldTemplate} from './field-template.js';
import {initialValue} from '../../schema/initial-values.js';
import {canShow, resolve, shapeOf} from '../../schema/shape.js';
import {optionOf} from '../../schema/validate.js';

/** Field for one of several variants: a variant select and the field of the chosen variant. */
export class AcFieldUnion extends FieldElement {
  static properties = {_chosen: {state: true}};

  static styles = [FieldElement.styles, css`
    .variant { display: grid; gap: var(--ac-space-2); }
    .head select { width: auto; min-height: 1.75rem; padding: 0 var(--ac-space-2); font-size: var(--ac-text-s); }
  `];

  constructor() {
    super();
    /** @type {number | null} What the user chose; null if the variant follows from the value. */
    this._chosen = null;
  }

  get hasFields() {
    return this._index >= 0;
  }

  /** The index of the variant that is shown, or -1 if there is no value. */
  get _index() {
    const {options} = this.shape;
    if (this._chosen !== null && (this.value === undefined || canShow(shapeOf(options[this._chosen], this.form.root), this.value))) return this._chosen;
    if (this.value === undefined || this.value === null) return this.field.isRequired && this.value === undefined ? 0 : -1;
    return optionOf(this.value, options, this.form.root);
  }

  render() {
    const {options} = this.shape;
    const index = this._index;
    const {isBare, label} = this.field;
    const inner = {...this.field, part: options[index] ?? {}, isBare: true};
    return html`
      <div class="frame" part="frame" role="group" aria-label=${label}>
        <div class="head">
          ${isBare ? nothing : html`<span class="label">${label}</span>`}${this._renderVariants(index)}${this.renderMust()}${this.renderNull()}
        </div>
        ${this.renderDescription()}
        ${index < 0 ? nothing : html`<div class="variant">${this._renderAbout(options[index])}${fieldTemplate(inner, this.value ?? undefined, this.form)}</div>`}
        ${index < 0 ? this.renderNotes() : nothing}
      </div>`;
  }

  /** @param {number} index */
  _renderVariants(index) {
    const {options} = this.shape;
    const canBeUnset = !this.field.isRequired || index < 0;
    return html`
      <select aria-label=${t('form.variant', {name: this.field.label})} ?disabled=${this.isDisabled} .value=${live(String(index))} @change=${this._onChange}>
        ${canBeUnset ? html`<option value="-1" ?selected=${index < 0}>${t('form.notSet')}</option>` : nothing}
        ${options.map((option, at) => html`<option value=${at} ?selected=${at === index}>${this._nameOf(option)}</option>`)}
      </select>`;
  }

  /** @param {import('../../schema/shape.js').Schema} option */
  _renderAbout(option) {
    const {description} = resolve(option, this.form.root);
    return description ? html`<p class="hint">${description}</p>` : nothing;
  }

  /** Return what distinguishes a variant: its title, its constant property or its type. @param {import('../../schema/shape.js').Schema} option */
  _nameOf(option) {
    const {kind, schema} = shapeOf(option, this.form.root);
    if (schema.title) return schema.title;
    if (kind === 'constant') return JSON.stringify(schema.const);
    const fixed = Object.values(schema.properties ?? {}).map((part) => resolve(part, this.form.root))
      .find((part) => Object.hasOwn(part, 'const'));
    if (fixed) return String(fixed.const);
    const names = (schema.required ?? []).slice(0, 2).join(', ');
    return kind === 'object' && names ? `{ ${names} }` : t(`form.type.${kind}`);
  }

  /** @param {Event} event */
  _onChange(event) {
    const index = Number(/** @type {HTMLSelectElement} */ (event.target).value);
    this._chosen = index < 0 ? null : index;
    const option = this.shape.options[index];
    if (!option) return this.change(undefined);
    // keep a value that is already entered if the new variant can show it
    const stays = this.value !== undefined && typeof this.value !== 'object' && canShow(shapeOf(option, this.form.root), this.value);
    if (!stays) this.change(initialValue(option, this.form.root));
  }
}
customElements.define('ac-field-union', AcFieldUnion);
