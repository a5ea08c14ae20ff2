import {html} from 'lit';
import {live} from 'lit/directives/live.js';
import {t} from '../../base/i18n.js';
import {FieldElement} from './field-element.js';

/** A number. What is typed and is none is kept and marked, and not taken for a value. */
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

  /** `1.` and `1e` are on their way to a number: what stands there stays while it means the value. */
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
