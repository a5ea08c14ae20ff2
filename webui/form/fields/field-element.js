/** Base class of form fields: path, frame of label, description and errors, and change events. */
import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../../base/i18n.js';
import {base, buttons, fields} from '../../ui/styles.js';
import {isWithin, pathText} from '../../schema/paths.js';
import {shapeOf} from '../../schema/shape.js';

/**
 * @typedef {import('../../schema/shape.js').Schema} Schema
 * @typedef {import('../../schema/shape.js').Shape} Shape
 * @typedef {import('../../schema/paths.js').Path} Path
 * @typedef {import('../../schema/validate.js').FieldError} FieldError
 *
 * @typedef {object} Field
 * @property {Schema} part
 * @property {Path} path
 * @property {string} label
 * @property {boolean} isRequired
 * @property {boolean} isBare     True if there is no visible label because the surrounding element already names the field.
 *
 * @typedef {object} FieldNote    The form owner's note on one field.
 * @property {unknown} [note]     Shown below the field: a text or a template.
 * @property {boolean} [isReadOnly]
 * @property {boolean} [isSet]    True if a secret is set; its value is not shown.
 *
 * @typedef {object} FormContext  State shared by all fields of a form.
 * @property {Schema} root
 * @property {FieldError[]} errors
 * @property {Record<string, FieldNote>} notes  Keyed by path text.
 * @property {boolean} isDisabled
 */

/** @type {Field} */
const NOWHERE = {part: {}, path: [], label: '', isRequired: false, isBare: false};

/**
 * Base class of form fields.
 * @fires ac-field-change {path: Path, value: unknown}  `undefined` if there is no value (any more).
 */
export class FieldElement extends Localized(LitElement) {
  /** @type {import("lit").PropertyDeclarations} */
  static properties = {
    field: {attribute: false},
    value: {attribute: false},
    form: {attribute: false},
  };

  /** @type {import('lit').CSSResultGroup} */
  static styles = [base, buttons, fields, css`
    :host { min-width: 0; }
    .frame { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-1); justify-items: stretch; }
    .head { display: flex; align-items: baseline; flex-wrap: wrap; gap: 0 var(--ac-space-2); }
    .head label, .head .label { font-family: var(--ac-form-label-font, var(--ac-font-mono)); font-size: var(--ac-text-s); overflow-wrap: anywhere; }
    .head .kind { color: var(--ac-text-muted); font-size: var(--ac-text-xs); }
    .head .must { color: var(--ac-accent); font-size: var(--ac-text-xs); font-weight: var(--ac-weight-medium); }
    .hint { max-width: 65ch; overflow-wrap: anywhere; }
    .hint code { font-size: 0.95em; padding: 0 0.2em; background: var(--ac-surface-sunken); border-radius: var(--ac-radius-s); }
    input:not([type="checkbox"], [type="radio"]), select, textarea { width: 100%; }
    .field-error { display: flex; flex-wrap: wrap; align-items: baseline; gap: var(--ac-space-1) var(--ac-space-2); }
    .row { display: flex; gap: var(--ac-space-2); align-items: flex-start; }
    .row > :first-child { flex: 1 1 auto; min-width: 0; }
    .link {
      min-height: 0; padding: 0; border: 0; background: none; box-shadow: none; color: var(--ac-accent);
      font-size: var(--ac-text-s); font-weight: var(--ac-weight-medium); text-decoration: underline; text-underline-offset: 0.2em;
    }
  `];

  constructor() {
    super();
    /** @type {Field} */
    this.field = NOWHERE;
    /** @type {any} */
    this.value = undefined;
    /** @type {FormContext} */
    this.form = {root: {}, errors: [], notes: {}, isDisabled: false};
    /** @type {FieldError | null} An error for input that is not a value at all. */
    this.typingError = null;
  }

  /** @returns {Shape} */
  get shape() {
    return shapeOf(this.field.part, this.form.root);
  }

  /** @returns {Schema} */
  get schema() {
    return this.shape.schema;
  }

  /** @returns {FieldNote} */
  get note() {
    return this.form.notes[pathText(this.field.path)] ?? {};
  }

  get isDisabled() {
    return this.form.isDisabled || Boolean(this.note.isReadOnly);
  }

  /** True if nested fields show their own errors. */
  get hasFields() {
    return false;
  }

  /** The errors that this field shows. @returns {FieldError[]} */
  get errors() {
    const {path} = this.field;
    const own = this.form.errors.filter((error) =>
      (this.hasFields ? error.path.length === path.length && isWithin(error.path, path) : isWithin(error.path, path)));
    return this.typingError ? [this.typingError] : own;
  }

  /** @param {unknown} value */
  change(value) {
    this.dispatchEvent(new CustomEvent('ac-field-change', {
      detail: {path: this.field.path, value}, bubbles: true, composed: true,
    }));
  }

  /** Focus the field's control. */
  focusControl() {
    const control = this.renderRoot.querySelector('input, select, textarea, button');
    /** @type {HTMLElement | null} */ (control)?.focus();
  }

  /** IDs of the description and errors, for `aria-describedby` of the control. */
  get described() {
    return `${this.schema.description && !this.field.isBare ? 'hint ' : ''}${this.errors.length ? 'errors' : ''}`.trim() || nothing;
  }

  get invalid() {
    return this.errors.length ? 'true' : nothing;
  }

  /** `aria-label` for the control of a bare field. */
  get spokenLabel() {
    return this.field.isBare ? this.field.label : nothing;
  }

  /**
   * Render the frame around a control with the ID `control`.
   * @param {unknown} control
   * @param {unknown} [beside]  Shown at the end of the label's line.
   */
  renderFrame(control, beside = nothing) {
    const head = html`
      <div class="head">
        <label for="control">${this.field.label}</label>${this.renderMust()}${beside}${this.renderNull()}
      </div>`;
    return html`
      <div class="frame" part="frame">
        ${this.field.isBare ? beside : head} ${this.renderDescription()} ${control} ${this.renderNotes()}
      </div>`;
  }

  renderMust() {
    return this.field.isRequired ? html`<span class="must">${t('form.required')}</span>` : nothing;
  }

  /** Render the button that sets null, unless leaving the field empty already means null. */
  renderNull() {
    const {isNullable, schema} = this.shape;
    if (!isNullable || (!this.field.isRequired && (schema.default ?? null) === null)) return nothing;
    const isNull = this.value === null;
    return html`<button type="button" class="link" aria-pressed=${isNull} ?disabled=${this.isDisabled}
      @click=${() => this.change(isNull ? undefined : null)}>${t(isNull ? 'form.unsetNull' : 'form.setNull')}</button>`;
  }

  renderDescription() {
    const {description} = this.schema;
    return description && !this.field.isBare ? html`<p class="hint" id="hint">${withCode(description)}</p>` : nothing;
  }

  renderNotes() {
    const errors = this.errors.map((error) => html`
      <p class="field-error">${errorText(error)} ${this.renderRemedy(error)}</p>`);
    return html`
      ${errors.length ? html`<div id="errors">${errors}</div>` : nothing}
      ${this.note.note ? html`<div class="hint note">${this.note.note}</div>` : nothing}`;
  }

  /** Render a one-click fix for an error. @param {FieldError} _error @returns {unknown} */
  renderRemedy(_error) {
    return nothing;
  }
}

/** Return the text of an error. @param {FieldError} error */
export function errorText(error) {
  if (!error.message) return t(error.key ?? '', error.values);
  return error.message[0].toUpperCase() + error.message.slice(1);
}

/** Render a text with the parts between backticks as code. @param {string} text */
export function withCode(text) {
  return text.split('`').map((part, index) => (index % 2 ? html`<code>${part}</code>` : part));
}
