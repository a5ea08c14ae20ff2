import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../base/i18n.js';
import '../base/later-strings.js';
import {placedErrors} from '../schema/error-path.js';
import {FieldElement, errorText} from './fields/field-element.js';
import {fieldTemplate} from './fields/field-template.js';
import {pathText, valueAt, withValueAt} from '../schema/paths.js';
import {errorsOf} from '../schema/validate.js';
import {growing} from '../ui/growing-textarea.js';
import {base, buttons, fields} from '../ui/styles.js';
import './fields/ac-field-boolean.js';
import './fields/ac-field-choice.js';
import './fields/ac-field-constant.js';
import './fields/ac-field-date.js';
import './fields/ac-field-file.js';
import './fields/ac-field-json.js';
import './fields/ac-field-list.js';
import './fields/ac-field-many.js';
import './fields/ac-field-number.js';
import './fields/ac-field-object.js';
import './fields/ac-field-text.js';
import './fields/ac-field-union.js';
import '../ui/ac-icon.js';

/**
 * @typedef {import('../schema/shape.js').Schema} Schema
 * @typedef {import('../schema/validate.js').FieldError} FieldError
 * @typedef {import('./fields/field-element.js').FieldNote} FieldNote
 */

/**
 * A form generated from an object's JSON Schema, with a JSON text view of the same value.
 *
 * `errors` are the server's validation errors (`[{path, message}]`); each is shown at its field until that field's value changes.
 * `notes` are the owner's notes on individual fields, keyed by path text.
 *
 * @fires ac-change {value: object}  Fired after each change; `value` is a new object that shares its unchanged parts.
 * @slot heading  Content beside the form/JSON switch.
 */
export class AcSchemaForm extends Localized(LitElement) {
  static properties = {
    schema: {attribute: false},
    value: {attribute: false},
    errors: {attribute: false},
    notes: {attribute: false},
    disabled: {type: Boolean},
    view: {type: String},
    onlyForm: {type: Boolean, attribute: 'only-form'},
    _text: {state: true},
    _textError: {state: true},
    _isChecked: {state: true},
  };

  static styles = [base, buttons, fields, css`
    :host { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-4); }
    .top { display: flex; align-items: center; justify-content: space-between; gap: var(--ac-space-3); }
    .views { margin-inline-start: auto; display: inline-flex; padding: 2px; gap: 2px; border-radius: var(--ac-radius-m); background: var(--ac-surface-sunken); border: 1px solid var(--ac-border); }
    .views button { min-height: 1.5rem; border: 0; background: none; box-shadow: none; color: var(--ac-text-muted); font-size: var(--ac-text-s); border-radius: calc(var(--ac-radius-m) - 2px); }
    .views button[aria-pressed="true"] { background: var(--ac-surface-raised); color: var(--ac-text); box-shadow: var(--ac-shadow-s); }
    .raw { display: grid; gap: var(--ac-space-2); }
    textarea { width: 100%; min-height: 10rem; max-height: 32rem; field-sizing: content; font-family: var(--ac-font-mono); font-size: var(--ac-text-s); tab-size: 2; }
    .notice { padding: var(--ac-space-2) var(--ac-space-3); border-radius: var(--ac-radius-m); background: var(--ac-warn-soft); color: var(--ac-warn); font-size: var(--ac-text-s); }
    .errors { display: grid; gap: var(--ac-space-1); padding: var(--ac-space-2) var(--ac-space-3); border-radius: var(--ac-radius-m); background: var(--ac-danger-soft); }
    .errors .place { font-family: var(--ac-font-mono); }
    .tools { display: flex; justify-content: space-between; gap: var(--ac-space-3); align-items: start; }
  `];

  constructor() {
    super();
    /** @type {Schema} */
    this.schema = {};
    /** @type {Record<string, any>} */
    this.value = {};
    /** @type {{path?: string, message: string}[]} */
    this.errors = [];
    /** @type {Record<string, FieldNote>} */
    this.notes = {};
    this.disabled = false;
    /** @type {'form' | 'json'} */
    this.view = 'form';
    this.onlyForm = false;
    /** @type {string | null} The JSON text as typed; null if it is generated from the value. */
    this._text = null;
    this._textError = '';
    this._isChecked = false;
    /** @type {Record<string, any>} The value to which the server's errors refer. */
    this._refused = {};
    /** @type {unknown} */
    this._reported = undefined;
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (changed.has('errors')) this._refused = this.value;
    if (changed.has('value') && this.value !== this._reported) {
      this._text = null;
      this._textError = '';
    }
    if (changed.has('schema')) this._isChecked = false;
  }

  /** The current errors: the server's errors for values that have not changed, plus schema errors once checked. @returns {FieldError[]} */
  get _errors() {
    const refused = placedErrors(this.errors, this.schema, this._refused)
      .filter(({path}) => path.length === 0 ? this.value === this._refused : valueAt(this.value, path) === valueAt(this._refused, path));
    return this._isChecked ? [...refused, ...errorsOf(this.value, this.schema, this.schema)] : refused;
  }

  /**
   * Validate the value, show its errors and focus the first one.
   * @returns {boolean} whether the value can be sent
   */
  check() {
    if (this._textError) {
      this.focus();
      return false;
    }
    this._isChecked = true;
    const isRight = errorsOf(this.value, this.schema, this.schema).length === 0 && !this._isTypingWrong(this.renderRoot);
    if (!isRight) void this.showErrors();
    return isRight;
  }

  /** Focus the first field that shows an error. */
  async showErrors() {
    // errors must propagate to all nested fields first
    await new Promise((resolve) => requestAnimationFrame(resolve));
    const first = this._firstWrong(this.renderRoot);
    if (first) first.focusControl();
    else this.focus();
  }

  /** True if the JSON text is invalid, so that there is nothing to send. */
  get hasTextError() {
    return this._textError !== '';
  }

  /** Focus the first field. */
  focus() {
    const first = this.renderRoot.querySelector('textarea') ?? this._firstField(this.renderRoot);
    if (first instanceof FieldElement) first.focusControl();
    else first?.focus();
  }

  render() {
    return html`
      ${this.onlyForm ? nothing : html`<div class="top"><slot name="heading"></slot>${this._renderViews()}</div>`}
      ${this.view === 'json' && !this.onlyForm ? this._renderJson() : this._renderForm()}`;
  }

  _renderViews() {
    const button = (/** @type {'form' | 'json'} */ view) => html`
      <button type="button" aria-pressed=${this.view === view} @click=${() => { this.view = view; }}>${t(`form.${view}`)}</button>`;
    return html`<div class="views" role="group" aria-label=${t('form.view')}>${button('form')}${button('json')}</div>`;
  }

  _renderForm() {
    const form = {root: this.schema, errors: this._errors, notes: this.notes, isDisabled: this.disabled};
    const field = {part: this.schema, path: [], label: '', isRequired: true, isBare: true};
    return html`
      ${this._textError ? html`<p class="notice">${t('form.jsonBehind')}</p>` : nothing}
      <div @ac-field-change=${this._onFieldChange}>${fieldTemplate(field, this.value, form)}</div>`;
  }

  _renderJson() {
    const errors = this._errors;
    return html`
      <div class="raw">
        <textarea .value=${this._text ?? JSON.stringify(this.value, null, 2)} aria-label=${t('form.json')} spellcheck="false"
          autocomplete="off" ?disabled=${this.disabled} aria-invalid=${this._textError || errors.length ? 'true' : nothing}
          aria-describedby="text-error" @input=${this._onText} ${growing()}></textarea>
        <div class="tools">
          <div id="text-error" class="field-error" role="status">${this._textError}</div>
          <button type="button" class="small quiet" ?disabled=${Boolean(this._textError)} @click=${() => { this._text = null; }}>${t('form.format')}</button>
        </div>
        ${errors.length ? html`<ul class="errors">${errors.map(this._renderError)}</ul>` : nothing}
      </div>`;
  }

  /** @param {FieldError} error */
  _renderError(error) {
    return html`<li class="field-error"><span class="place">${pathText(error.path)}</span> ${errorText(error)}</li>`;
  }

  /** @param {CustomEvent<{path: import('../schema/paths.js').Path, value: unknown}>} event */
  _onFieldChange(event) {
    event.stopPropagation();
    const {path, value} = event.detail;
    this._text = null;
    this._textError = '';
    this._report(withValueAt(this.value, path, value) ?? {});
  }

  /** @param {Event} event */
  _onText(event) {
    this._text = /** @type {HTMLTextAreaElement} */ (event.target).value;
    try {
      const value = this._text.trim() === '' ? {} : JSON.parse(this._text);
      if (value === null || typeof value !== 'object' || Array.isArray(value)) throw new Error();
      this._textError = '';
      this._report(value);
    } catch (error) {
      this._textError = error instanceof SyntaxError ? t('form.jsonInvalid', {message: error.message}) : t('form.jsonNoObject');
    }
  }

  /** @param {unknown} value */
  _report(value) {
    this.value = this._reported = /** @type {Record<string, any>} */ (value);
    this.dispatchEvent(new CustomEvent('ac-change', {detail: {value}, bubbles: true, composed: true}));
  }

  /** @param {ParentNode} root @returns {FieldElement | null} */
  _firstField(root) {
    for (const element of root.querySelectorAll('*')) {
      if (element instanceof FieldElement) return this._firstField(element.renderRoot) ?? element;
    }
    return null;
  }

  /** @param {ParentNode} root @returns {FieldElement | null} */
  _firstWrong(root) {
    for (const element of root.querySelectorAll('*')) {
      if (!(element instanceof FieldElement)) continue;
      const found = this._firstWrong(element.renderRoot) ?? (element.errors.length ? element : null);
      if (found) return found;
    }
    return null;
  }

  /** @param {ParentNode} root @returns {boolean} */
  _isTypingWrong(root) {
    return [...root.querySelectorAll('*')].some((element) =>
      element instanceof FieldElement && (element.typingError !== null || this._isTypingWrong(element.renderRoot)));
  }
}
customElements.define('ac-schema-form', AcSchemaForm);
