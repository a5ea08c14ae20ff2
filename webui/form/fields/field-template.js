/** Selects the form element for each kind of shape. */
import {html} from 'lit';
import {canShow, shapeOf} from '../../schema/shape.js';

/**
 * @typedef {import('./field-element.js').Field} Field
 * @typedef {import('./field-element.js').FormContext} FormContext
 */

/**
 * Render the field for one part of a schema; a value that its kind cannot show is shown as JSON.
 * @param {Field} field
 * @param {any} value
 * @param {FormContext} form
 */
export function fieldTemplate(field, value, form) {
  const shape = shapeOf(field.part, form.root);
  const kind = canShow(shape, value) ? shape.kind : 'json';
  switch (kind) {
    case 'text': return html`<ac-field-text .field=${field} .value=${value} .form=${form}></ac-field-text>`;
    case 'number': return html`<ac-field-number .field=${field} .value=${value} .form=${form}></ac-field-number>`;
    case 'boolean': return html`<ac-field-boolean .field=${field} .value=${value} .form=${form}></ac-field-boolean>`;
    case 'choice': return html`<ac-field-choice .field=${field} .value=${value} .form=${form}></ac-field-choice>`;
    case 'constant': case 'null': return html`<ac-field-constant .field=${field} .value=${value} .form=${form}></ac-field-constant>`;
    case 'date': return html`<ac-field-date .field=${field} .value=${value} .form=${form}></ac-field-date>`;
    case 'file': return html`<ac-field-file .field=${field} .value=${value} .form=${form}></ac-field-file>`;
    case 'object': case 'map': return html`<ac-field-object .field=${field} .value=${value} .form=${form}></ac-field-object>`;
    case 'list': case 'tuple': return html`<ac-field-list .field=${field} .value=${value} .form=${form}></ac-field-list>`;
    case 'many': return html`<ac-field-many .field=${field} .value=${value} .form=${form}></ac-field-many>`;
    case 'union': return html`<ac-field-union .field=${field} .value=${value} .form=${form}></ac-field-union>`;
    default: return html`<ac-field-json .field=${field} .value=${value} .form=${form}></ac-field-json>`;
  }
}

const NARROW = new Set(['number', 'boolean', 'choice', 'date', 'constant']);

/**
 * Return true if a field needs its own row.
 * @param {Field} field
 * @param {any} value
 * @param {FormContext} form
 */
export function isWide(field, value, form) {
  const shape = shapeOf(field.part, form.root);
  return !NARROW.has(shape.kind) || !canShow(shape, value);
}
