/** Reads the text of an element. */
import {tidy} from './native-properties.js';
import {nameOf} from './click.js';
import {isChecked} from './context.js';
import {inside} from './fill.js';
import {isTextField, secretOf} from './kinds.js';
import {textOf} from './labels.js';
import {Refusal, done} from './reply.js';

const LIMIT_CHARS = 8000;

/** @param {Element} element @returns {import('./reply.js').Reply} */
export function read(element) {
  const label = nameOf(element);
  const field = inside(element);
  if (secretOf(field, label)) throw new Refusal('secretRead', {label});
  return done('read', {text: cut(contentOf(element, field))});
}

/** @param {string} text */
export function cut(text) {
  return text.length > LIMIT_CHARS ? `${text.slice(0, LIMIT_CHARS)}…` : text;
}

/** @param {Element} element @param {Element} field */
function contentOf(element, field) {
  if (field instanceof HTMLSelectElement) return [...field.selectedOptions].map((option) => tidy(option.text)).join(', ');
  if (field instanceof HTMLInputElement && ['checkbox', 'radio'].includes(field.type)) return String(isChecked(field));
  if (isTextField(field)) return field.value;
  const text = element instanceof HTMLElement ? element.innerText : element.textContent ?? '';
  return text.replace(/[ \t]+\n/g, '\n').replace(/\n{3,}/g, '\n\n').trim() || textOf(element, 500);
}
