/** Finds the element that an action targets: by id, selector or name. */
import {its} from './native-properties.js';
import {elementOf} from './ids.js';
import {placeholderOf} from './labels.js';
import {isInWindow, isShown} from './layout.js';
import {tellApart} from './element-surroundings.js';
import {Survey} from './survey.js';

/**
 * @typedef {{elementId?: string, selector?: string, description?: string}} Target
 * @typedef {{element: Element | null, fit: number, invalid?: string}} Match  `fit` is comparable across frames; `invalid` is the invalid selector
 */

/** @type {Match} */
const NONE = {element: null, fit: 0};

/**
 * @param {Target} target  its `description` is passed parsed, as `words`
 * @param {{kinds: string[], label: string, place: string}} words  the parsed description
 * @returns {Promise<Match>}
 */
export async function find(target, words) {
  const known = target.elementId ? elementOf(target.elementId) : null;
  if (known) return {element: known, fit: 100};
  if (target.selector) {
    const found = bySelector(target.selector);
    if (found.element || found.invalid) return found;
  }
  return words.label || words.kinds.length ? byWords(words) : NONE;
}

/** @param {string} selector @returns {Match} */
function bySelector(selector) {
  /** @type {Element[]} */
  let found;
  try {
    found = [...its(document).querySelectorAll(selector)];
  } catch {
    return {...NONE, invalid: selector};
  }
  if (!found.length) found = inShadows(document, selector);
  const shown = found.slice(0, 500).find((element) => isShown(element, element.getBoundingClientRect()));
  const element = shown ?? found[0] ?? null;
  return {element, fit: shown ? 90 : element ? 80 : 0};
}

/** @param {Document | ShadowRoot} root @param {string} selector @returns {Element[]} */
function inShadows(root, selector) {
  const found = [];
  for (const {shadowRoot} of its(root).querySelectorAll('*')) {
    if (shadowRoot) found.push(...shadowRoot.querySelectorAll(selector), ...inShadows(shadowRoot, selector));
  }
  return found;
}

/** @param {{kinds: string[], label: string, place: string}} words @returns {Promise<Match>} */
async function byWords({kinds, label, place}) {
  const survey = await new Survey().take();
  if (place) return {element: await atPlace(survey, kinds, label, place), fit: 75};
  const wanted = label.toLowerCase();
  let best = NONE;
  let most = 0;
  await survey.pace.each(survey.found, (each) => {
    const fit = fitOf(wanted, survey.nameOf(each).toLowerCase(), placeholderOf(each.element).toLowerCase());
    const isKind = kinds.includes(each.kind);
    if (wanted ? !fit : !isKind) return;
    const rank = fit * 10 + (isKind ? 8 : 0) + (isInWindow(each.box) ? 2 : 0) + each.use / 10_000;
    if (rank > most) {
      most = rank;
      best = {element: each.element, fit: Math.min(70, 10 + fit * 5 + (isKind ? 4 : 0))};
    }
  });
  return best;
}

/**
 * Among several elements of a name, return the one whose surroundings match the description; null rather than a wrong one.
 * @param {Survey} survey @param {string[]} kinds @param {string} label @param {string} place @returns {Promise<Element | null>}
 */
async function atPlace(survey, kinds, label, place) {
  const alike = await survey.named(label, kinds);
  const all = alike.map((each) => ({element: each.element, described: {kind: each.kind, label, placeholder: placeholderOf(each.element), place: ''}}));
  tellApart(all);
  return all.find(({described}) => described.place === place)?.element ?? (all.length === 1 ? all[0].element : null);
}

/** Rate how well a name matches a description. @param {string} wanted @param {string} name @param {string} placeholder */
function fitOf(wanted, name, placeholder) {
  if (!wanted) return 0;
  if (name === wanted) return 10;
  if (placeholder === wanted) return 9;
  if (name.includes(wanted)) return 6;
  if (placeholder.includes(wanted)) return 5;
  if (name.length > 1 && wanted.includes(name)) return 4;
  const parts = wanted.split(/[^\p{L}\p{N}]+/u).filter((part) => part.length > 1);
  const met = parts.filter((part) => name.includes(part) || placeholder.includes(part)).length;
  return parts.length && met / parts.length >= 0.6 ? 3 : 0;
}
