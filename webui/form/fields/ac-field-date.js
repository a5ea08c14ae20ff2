import {html} from 'lit';
import {live} from 'lit/directives/live.js';
import {t} from '../../base/i18n.js';
import {FieldElement} from './field-element.js';

/** @type {Record<string, string>} */
const INPUTS = {date: 'date', time: 'time', 'date-time': 'datetime-local'};

/** Field for a date, time or date-time; a date-time is sent with the local UTC offset. */
export class AcFieldDate extends FieldElement {
  render() {
    const {format} = this.schema;
    const shown = format === 'date-time' ? localText(this.value) : this.value ?? '';
    // a value that the native input cannot represent is shown as text
    const type = shown === null ? 'text' : INPUTS[format];
    return this.renderFrame(html`
      <div class="row">
        <input id="control" type=${type} step="1" .value=${live(shown ?? this.value)} aria-label=${this.spokenLabel}
          aria-describedby=${this.described} aria-invalid=${this.invalid} ?required=${this.field.isRequired}
          ?disabled=${this.isDisabled} @change=${this._onChange}>
        <button type="button" class="quiet" ?disabled=${this.isDisabled} @click=${() => this.change(now(format))}>${t('form.now')}</button>
      </div>`);
  }

  /** @param {Event} event */
  _onChange(event) {
    const {value, type} = /** @type {HTMLInputElement} */ (event.target);
    if (value === '') this.change(undefined);
    else this.change(type === 'datetime-local' ? withOffset(new Date(value)) : value);
  }
}
customElements.define('ac-field-date', AcFieldDate);

/** @param {Date} date */
const shifted = (date) => new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString();

/** Return a date-time in `datetime-local` format, or null if it is invalid. @param {string | undefined} value */
function localText(value) {
  if (value === undefined) return '';
  const date = new Date(value);
  return Number.isNaN(date.getTime()) ? null : shifted(date).slice(0, 19);
}

/** Format a date as RFC 3339 with the local offset. @param {Date} date */
function withOffset(date) {
  const minutes = -date.getTimezoneOffset();
  const two = (/** @type {number} */ n) => String(Math.floor(n)).padStart(2, '0');
  const size = Math.abs(minutes);
  return `${shifted(date).slice(0, 19)}${minutes < 0 ? '-' : '+'}${two(size / 60)}:${two(size % 60)}`;
}

/** @param {string} format */
function now(format) {
  const moment = withOffset(new Date());
  if (format === 'date') return moment.slice(0, 10);
  return format === 'time' ? moment.slice(11, 19) : moment;
}
