/** Describes the page for a model: its URL and title, its elements, and the selected text. */
import {attribute, focused, its, rootOf, tidy} from './native-properties.js';
import {idOf, setReported} from './ids.js';
import {isTextField, kindOf, secretOf} from './kinds.js';
import {labelOf, placeholderOf} from './labels.js';
import {isDisabled} from './layout.js';
import {tellApart} from './element-surroundings.js';
import {Survey, ofType} from './survey.js';

/**
 * @typedef {import('./survey.js').Found} Found
 * @typedef {object} Described
 * @property {string} id
 * @property {string} kind
 * @property {string} label
 * @property {string} placeholder
 * @property {string[]} states  `checked`, `disabled`, `blocked`, `secret`
 * @property {string} place  the surroundings, if another element has the same name
 * @property {string} value  the content of a field, or its selected option; never of a secret field
 * @property {number} use
 */

const LIMIT = 30;
const SELECTION_CHARS = 20_000;
const VALUE_CHARS = 60;

/** The number of chats whose offered elements are remembered; the oldest is dropped first. */
const READERS = 16;

/** The elements that each chat's model already knows, so that a request for more returns others. @type {Map<string, WeakSet<Element>>} */
const offered = new Map();

/** @param {string} reader  the chat @param {boolean} isFrame @returns {Promise<{url: string, title: string, elements: Described[], selectedText: string}>} */
export async function collect(reader, isFrame) {
  const survey = await new Survey().take();
  const best = isFrame && !(await isFrameSeen()) ? [] : await survey.best(survey.found, LIMIT);
  offer(reader, new WeakSet(best.map(({element}) => element)));
  return {
    url: location.href,
    title: tidy(its(document).title, 300),
    elements: describedApart(best, survey),
    selectedText: selectedText(),
  };
}

/**
 * Return elements that the model has not been sent yet, or start over when all have been sent.
 * @param {string} reader  the chat @param {{region?: string, elementType?: string, keyword?: string}} wanted @returns {Promise<Described[]>}
 */
export async function more(reader, {region, elementType, keyword}) {
  const survey = await new Survey().take();
  let found = ofType(survey.found, elementType);
  if (region) found = await survey.inRegion(found, region);
  if (keyword) found = await survey.withKeyword(found, keyword);
  let known = offered.get(reader) ?? new WeakSet();
  if (!region && !keyword && (!elementType || elementType === 'all')) {
    const others = found.filter(({element}) => !known.has(element));
    if (others.length) found = others;
    else known = new WeakSet();
  }
  const best = await survey.best(found, LIMIT);
  for (const {element} of best) known.add(element);
  offer(reader, known);
  return describedApart(best, survey);
}

/** @param {string} reader @param {WeakSet<Element>} known */
function offer(reader, known) {
  offered.delete(reader);
  offered.set(reader, known);
  for (const oldest of offered.keys()) {
    if (offered.size <= READERS) return;
    offered.delete(oldest);
  }
}

/** @param {Found[]} found @param {Survey} survey @returns {Described[]} */
function describedApart(found, survey) {
  const all = found.map((each) => ({element: each.element, described: described(each, survey)}));
  tellApart(all);
  return all.map((each) => each.described);
}

/** @param {Found} found @param {Survey} survey @returns {Described} */
export function described(found, survey) {
  const {element, kind, use, isBlocked} = found;
  return describedAs(element, {kind, label: survey.nameOf(found)}, use, isBlocked);
}

/** Describe elements that are alike, each with what tells it from the others. @param {Element[]} elements @returns {Described[]} */
export function describedAlike(elements) {
  const all = elements.map((element) => ({element, described: describedAs(element, describedName(element), 0, false)}));
  tellApart(all);
  return all.map((each) => each.described);
}

/** Return the kind and name of an element as it is now. @param {Element} element @returns {{kind: string, label: string}} */
export function describedName(element) {
  return {kind: kindOf(element) ?? 'clickable', label: labelOf(element)};
}

/** @param {Element} element @param {{kind: string, label: string}} name @param {number} use @param {boolean} isBlocked @returns {Described} */
function describedAs(element, name, use, isBlocked) {
  const {kind, label} = name;
  setReported(element, name);
  const secret = secretOf(element, label);
  const states = [];
  if (isChecked(element)) states.push('checked');
  if (isDisabled(element)) states.push('disabled');
  if (isBlocked) states.push('blocked');
  if (secret) states.push('secret');
  return {id: idOf(element), kind, label, placeholder: placeholderOf(element), place: '', states, value: secret ? '' : valueOf(element), use};
}

/** @param {Element} element */
export function isChecked(element) {
  if (element instanceof HTMLInputElement && ['checkbox', 'radio'].includes(element.type)) return element.checked;
  return attribute(element, 'aria-checked') === 'true';
}

/** Return the content of a field that is not secret. @param {Element} element */
function valueOf(element) {
  if (element instanceof HTMLSelectElement) return tidy(element.selectedOptions[0]?.text, VALUE_CHARS);
  return isTextField(element) ? tidy(element.value, VALUE_CHARS) : '';
}

/** Return the text that the user has selected in this frame. */
export function selectedText() {
  const field = focused();
  if (field && 'selectionStart' in field && isTextField(field)) {
    if (isSecret(field)) return '';
    const {selectionStart, selectionEnd} = field;
    if (selectionStart !== null && selectionEnd !== null && selectionEnd > selectionStart) {
      return field.value.slice(selectionStart, selectionEnd).slice(0, SELECTION_CHARS);
    }
  }
  const selection = selectionIn(field);
  return selection ? selection.toString().slice(0, SELECTION_CHARS) : '';
}

/** @param {Element} field */
function isSecret(field) {
  const labels = 'labels' in field ? [.../** @type {HTMLInputElement} */ (field).labels ?? []] : [];
  return secretOf(field, labels.map(({textContent}) => textContent).join(' ')) !== null;
}

/** Return the selection, including one inside a shadow root. @param {Element | null} active @returns {Selection | null} */
export function selectionIn(active) {
  const root = active ? rootOf(active) : null;
  const inner = root && 'getSelection' in root ? /** @type {any} */ (root).getSelection() : null;
  const selection = inner?.rangeCount ? inner : its(document).getSelection();
  return selection?.rangeCount && !selection.isCollapsed ? selection : null;
}

/** Resolve to true if this frame is visible in the viewport; a cross-origin frame has no other way to find out. @returns {Promise<boolean>} */
function isFrameSeen() {
  if (innerWidth < 10 || innerHeight < 10) return Promise.resolve(false);
  if (its(document).visibilityState === 'hidden') return Promise.resolve(true); // a background tab reports nothing about visibility
  return new Promise((resolve) => {
    const late = setTimeout(() => resolve(true), 300);
    const observer = new IntersectionObserver(([entry]) => {
      clearTimeout(late);
      observer.disconnect();
      resolve(entry.isIntersecting);
    });
    observer.observe(its(document).documentElement);
  });
}
