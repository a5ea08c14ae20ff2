/** Classifies elements by kind, and detects secret fields. */
import {attribute, its, tidy} from './native-properties.js';

/**
 * @typedef {'input' | 'password' | 'editor' | 'button' | 'link' | 'checkbox' | 'radio' | 'switch' | 'select' | 'combobox'
 *   | 'slider' | 'date' | 'color' | 'file' | 'tab' | 'menuitem' | 'option' | 'clickable' | 'element'} Kind
 * @typedef {'password' | 'oneTimeCode' | 'payment'} Secret
 */

/** Selects elements that may be interactive, judging by their markup. */
export const CANDIDATES = 'a[href], area[href], button, input:not([type=hidden]), select, textarea, summary, [role], [contenteditable], [tabindex], [onclick], label';

/** @type {Record<string, Kind>} */
const ROLES = {
  button: 'button', link: 'link', checkbox: 'checkbox', radio: 'radio', switch: 'switch', menuitemcheckbox: 'checkbox',
  menuitemradio: 'radio', combobox: 'combobox', slider: 'slider', tab: 'tab', menuitem: 'menuitem', option: 'option',
  treeitem: 'option', gridcell: 'clickable', textbox: 'input', searchbox: 'input', spinbutton: 'input', listbox: 'select',
};

/** @type {Record<string, Kind>} */
const INPUTS = {
  password: 'password', button: 'button', submit: 'button', reset: 'button', image: 'button', checkbox: 'checkbox',
  radio: 'radio', range: 'slider', date: 'date', time: 'date', 'datetime-local': 'date', month: 'date', week: 'date',
  color: 'color', file: 'file',
};

/** An editor that renders its own text and contains a hidden field for keyboard input. */
export const CODE_EDITOR = '.monaco-editor';
const CODE_INPUT = '.native-edit-context, textarea.inputarea';

/** Return the kind of an element; null if it is not interactive by itself. @param {Element} element @returns {Kind | null} */
export function kindOf(element) {
  const tag = element.localName;
  if (its(element).closest(CODE_EDITOR)) return its(element).matches(CODE_INPUT) ? 'editor' : null;
  const role = ROLES[attribute(element, 'role').toLowerCase().split(/\s+/)[0]];
  if (element instanceof HTMLInputElement) {
    const kind = INPUTS[element.type];
    if (kind === 'checkbox' && role === 'switch') return 'switch';
    return kind ?? (role === 'combobox' ? 'combobox' : 'input');
  }
  if (tag === 'textarea') return role === 'combobox' ? 'combobox' : 'input';
  if (tag === 'select') return 'select';
  if (isEditingHost(element)) return role === 'combobox' ? 'combobox' : 'editor';
  if (role === 'select' && !its(element).hasAttribute('tabindex')) return null; // its options are interactive instead
  if (role) return role;
  if (tag === 'button' || tag === 'summary') return 'button';
  if ((tag === 'a' || tag === 'area') && its(element).hasAttribute('href')) return 'link';
  if (its(element).hasAttribute('onclick')) return 'clickable';
  return null;
}

/** Return true if an element is the outermost editable one. @param {Element} element */
export function isEditingHost(element) {
  if (!(element instanceof HTMLElement) || !element.isContentEditable) return false;
  const parent = its(element).parentElement;
  return !parent?.isContentEditable || parent === its(document).documentElement && element.localName === 'body';
}

/** Return true if the user can type into an element. @param {Element} element @returns {element is HTMLInputElement | HTMLTextAreaElement} */
export function isTextField(element) {
  if (element instanceof HTMLTextAreaElement) return true;
  return element instanceof HTMLInputElement && !['button', 'checkbox', 'radio', 'file'].includes(INPUTS[element.type] ?? '');
}

/** Fields that have been password fields: a page may change the type to reveal the content. @type {WeakSet<Element>} */
const passwords = new WeakSet();

const NAMES = {
  password: /passw(?:or)?d|passcode|passphrase|\bpwd\b|\bpin(?:[ _-]?code)?\b|密码|口令/i,
  oneTimeCode: /\botp\b|one[ _-]?time|totp|\b2fa\b|\bmfa\b|verif\w*[ _-]?code|sms[ _-]?code|auth\w*[ _-]?code|security code sent|验证码|校验码|动态码|动态口令/i,
  payment: /card[ _-]?(?:number|no\b|num\b)|\bcc[ _-]?(?:number|num|exp|csc|cvc|cvv)|\bcvv2?\b|\bcvc2?\b|\bcsc\b|\biban\b|卡号|银行卡|信用卡|安全码/i,
};

/**
 * Return why a field is secret; null if it is not. Decided by the page's attributes and the field's label.
 * @param {Element} element @param {string} [label] @returns {Secret | null}
 */
export function secretOf(element, label = '') {
  if (!(element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement || element instanceof HTMLSelectElement)) return null;
  const completed = attribute(element, 'autocomplete').toLowerCase();
  if (element.type === 'password') passwords.add(element);
  if (/\bcc-(?!name\b|type\b)/.test(completed)) return 'payment';
  if (/\bone-time-code\b/.test(completed)) return 'oneTimeCode';
  if (passwords.has(element) || /\b(?:current|new)-password\b/.test(completed)) {
    return NAMES.payment.test(wordsOf(element, label)) ? 'payment' : 'password';
  }
  if (!isTextField(element)) return null;
  // text fields rendered as dots
  if (!['none', ''].includes(getComputedStyle(element).getPropertyValue('-webkit-text-security'))) return 'password';
  const words = wordsOf(element, label);
  return /** @type {Secret[]} */ (['payment', 'oneTimeCode', 'password']).find((kind) => NAMES[kind].test(words)) ?? null;
}

/** @param {Element} element @param {string} label */
function wordsOf(element, label) {
  const names = ['name', 'id', 'aria-label', 'placeholder', 'data-testid'].map((name) => attribute(element, name));
  // split cardNumber into two words
  return tidy([...names, label].join(' | ').replace(/([a-z])([A-Z])/g, '$1 $2'), 1000);
}
