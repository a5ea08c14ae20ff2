/** Fills fields in such a way that pages and their frameworks notice the change. */
import {attribute, tidy} from './native-properties.js';
import {check, choose} from './choose.js';
import {assertUsable, nameOf} from './click.js';
import {edit, isCodeEditor} from './editors.js';
import {isEditingHost, isTextField, secretOf} from './kinds.js';
import {turn} from './chunked-work.js';
import {Refusal, done} from './reply.js';

/** @typedef {HTMLInputElement | HTMLTextAreaElement} Field */

/** An example value for each field type. */
const FORMATS = {
  date: '2026-01-31', time: '14:30', 'datetime-local': '2026-01-31T14:30', month: '2026-01', week: '2026-W05',
  color: '#ff8800', number: '12.5', range: '50',
};

/**
 * @param {Element} element @param {string} value
 * @param {string} [allowed]  the kind of secret that the user has allowed to fill here
 * @returns {Promise<import('./reply.js').Reply>}
 */
export async function fill(element, value, allowed) {
  const label = nameOf(element);
  assertUsable(element, label);
  assertAllowed(element, label, allowed);
  const field = inside(element);
  if (field instanceof HTMLInputElement && field.type === 'file') throw new Refusal('fileField', {label});
  if (field instanceof HTMLSelectElement) return choose(field, value, allowed);
  if (field instanceof HTMLInputElement && ['checkbox', 'radio'].includes(field.type)) return check(field, value);
  if (isCodeEditor(field) || isEditingHost(field) || /** @type {HTMLElement} */ (field).isContentEditable) return edit(field, value, label);
  if (isTextField(field)) return type(field, value, label);
  if (attribute(field, 'role') === 'combobox' || attribute(field, 'aria-haspopup') === 'listbox') return choose(field, value);
  throw new Refusal('notFillable', {label});
}

/**
 * Throw if a field is secret and the user has not allowed filling this kind of secret.
 * @param {Element} element @param {string} label @param {string} [allowed]
 */
export function assertAllowed(element, label, allowed) {
  const secret = secretOf(inside(element), label);
  if (secret && secret !== allowed) throw new Refusal('secret', {kind: secret, label, origin: globalThis.origin});
}

/** Return the field that belongs to an element: a label's control, or the only field inside a component. @param {Element} element @returns {Element} */
export function inside(element) {
  if (element instanceof HTMLLabelElement && element.control) return element.control;
  if (isTextField(element) || element instanceof HTMLSelectElement || isEditingHost(element)) return element;
  const fields = 'input:not([type=hidden]), textarea, select, [contenteditable]:not([contenteditable=false])';
  const found = [...element.querySelectorAll(fields), ...element.shadowRoot?.querySelectorAll(fields) ?? []];
  return found.length === 1 ? found[0] : element;
}

/** @param {Field} field @param {string} value @param {string} label */
async function type(field, value, label) {
  if (field.readOnly) throw new Refusal('readOnly', {label});
  assertFormat(field, value, label);
  field.scrollIntoView({block: 'nearest', inline: 'nearest', behavior: 'instant'});
  field.focus({preventScroll: true});
  await turn(); // a focus listener may replace the field
  if (!field.isConnected) throw new Refusal('notFound');
  const options = {bubbles: true, cancelable: true, composed: true, inputType: 'insertReplacementText', data: value};
  if (!field.dispatchEvent(new InputEvent('beforeinput', options))) throw new Refusal('notTaken', {label});
  // the browser's own setter: in the page React and Vue override it, and would ignore the change as one of their own
  field.value = value;
  field.dispatchEvent(new InputEvent('input', {...options, cancelable: false}));
  field.dispatchEvent(new Event('change', {bubbles: true}));
  await turn();
  return done(...outcome(field, value, label));
}

/** @param {Field} field @param {string} value @param {string} label @returns {[string, Record<string, string>]} */
function outcome(field, value, label) {
  if (secretOf(field, label)) return ['filled', {label}];
  if (asShown(field.value) === asShown(value) || field.type === 'color') return ['filled', {label}];
  // such as spaces in a phone number
  if (field.value) return ['filledOtherwise', {label, value: tidy(field.value, 60)}];
  throw new Refusal('notTaken', {label});
}

/** @param {string} text */
function asShown(text) {
  return text.replace(/\r\n?/g, '\n');
}

/** @param {Field} field @param {string} value @param {string} label */
function assertFormat(field, value, label) {
  if (field.maxLength >= 0 && value.length > field.maxLength) throw new Refusal('tooLong', {label, limit: field.maxLength});
  const example = FORMATS[/** @type {keyof typeof FORMATS} */ (field.type)];
  if (!example || !value) return;
  // a detached field shows which values the browser accepts, before the page sees anything
  const probe = document.createElement('input');
  probe.type = field.type;
  for (const name of ['min', 'max', 'step']) if (field.hasAttribute(name)) probe.setAttribute(name, attribute(field, name));
  probe.value = value;
  const isSame = field.type === 'range' ? Number(probe.value) === Number(value) : probe.value !== '';
  if (!isSame || (field.type === 'color' && probe.value !== value.toLowerCase())) throw new Refusal('wrongFormat', {label, example});
  if (probe.validity.rangeUnderflow) throw new Refusal('tooSmall', {label, limit: attribute(field, 'min')});
  if (probe.validity.rangeOverflow) throw new Refusal('tooLarge', {label, limit: attribute(field, 'max')});
}
