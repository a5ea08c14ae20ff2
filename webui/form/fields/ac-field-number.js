import {html} from 'lit';
import {live} from 'lit/directives/live.js';
import {t} from '../../base/i18n.js';
import {FieldElement} from './field-element.js';

/** Number field; invalid input stays visible and is marked, but is not used as a value. */
export class AcFieldNumber extends FieldElement {
  render() {
    const {minimum, maximum, multipleOf, default: byDefault, type} = this.schema;
    const placeholder = typeof byDefault === 'number' ? t('form.default', {value: String(byDefault)}) : '';
    return this.renderFrame(html`
      <input id="control" type="number" step=${multipleOf ?? (type === 'integer' ? 1 : 'any')} min=${minimum ?? ''} max=${maximum ?? ''}
        .value=${live(this.typingError ? this._typed() : this._text())} placeholder=${placeholder}
        aria-label=${this.spokenLabel} aria-describedby=${this.described} aria-invalid=${this.invalid}
        ?required=${this.field.isRequired} ?disabled=${this.isDisabled} autocomplete="off" @input=${this._onInput}>`);
  }

  /** Return the text to show; intermediate input such as `1.` or `1e` is left alone while it equals the value. */
  _text() {
    const control = this._control;
    if (control && control.value !== '' && Number(control.value) === this.value) return control.value;
    return this.value === undefined || this.value === null ? '' : String(this.value);
  }

  _typed() {
    return this._control?.value ?? '';
  }

  get _control() {
    return /** @type {HTMLInputElement | null} */ (this.renderRoot?.querySelector('input'));
  }

  _onInput() {
    const control = /** @type {HTMLInputElement} */ (this._control);
    this.typingError = control.validity.badInput ? {path: this.field.path, key: 'form.error.number'} : null;
    this.change(control.value === '' ? undefined : Number(control.value));
    this.requestUpdate();
  }
}
customElements.define('ac-field-number', AcFieldNumber);
