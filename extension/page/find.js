/** Finds the element that an action targets: by id, selector or name. */
import {attribute, holds, its} from './native-properties.js';
import {describedName} from './context.js';
import {elementOf, reportedOf, setReported} from './ids.js';
import {labelOf, placeholderOf} from './labels.js';
import {boxOf, isInWindow, isShown} from './layout.js';
import {tellApart} from './element-surroundings.js';
import {Survey} from './survey.js';

/**
 * @typedef {{elementId?: string, selector?: string, description?: string}} Target
 * @typedef {import('./ids.js').Name} Name
 * @typedef {object} Match
 * @property {Element | null} element  the best one
 * @property {number} fit  comparable across frames
 * @property {Element[]} alike  all that fit as well
 * @property {string} [invalid]  the invalid selector
 * @property {{was: Name, now: Name}} [stale]  the element has another name than the one that was last described
 */

/** @type {Match} */
const NONE = {element: null, fit: 0, alike: []};

/**
 * @param {Target} target  its `description` is passed parsed, as `words`
 * @param {{kinds: string[], label: string, place: string}} words  the parsed description
 * @returns {Promise<Match>}
 */
export async function find(target, words) {
  const known = target.elementId ? elementOf(target.elementId) : null;
  if (known) return byId(known);
  if (target.selector) {
    const found = bySelector(target.selector);
    if (found.element || found.invalid) return found;
  }
  return words.label || words.kinds.length ? byWords(words) : NONE;
}

/** Lists that re-use their rows give the element of one row to another, which is not the one that was meant. @param {Element} element @returns {Match} */
function byId(element) {
  const was = reportedOf(element);
  const now = describedName(element);
  const match = {element, fit: 100, alike: [element]};
  if (!was || (was.kind === now.kind && was.label === now.label)) return match;
  setReported(element, now);
  return {...match, stale: {was, now}};
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
  const shown = found.slice(0, 500).filter((element) => isShown(element, boxOf(element)));
  if (shown.length) return {element: shown[0], fit: 90, alike: shown};
  return found.length ? {element: found[0], fit: 80, alike: found.slice(0, 1)} : NONE;
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
  if (place) {
    const element = await atPlace(survey, kinds, label, place);
    return {element, fit: 75, alike: element ? [element] : []};
  }
  const wanted = label.toLowerCase();
  let most = 0;
  /** @type {import('./survey.js').Found[]} */
  let best = [];
  await survey.pace.each(survey.found, (each) => {
    const fit = fitOf(wanted, survey.nameOf(each).toLowerCase(), placeholderOf(each.element).toLowerCase());
    const isKind = kinds.includes(each.kind);
    if (wanted ? !fit : !isKind) return;
    const rank = fit * 10 + (isKind ? 8 : 0);
    if (rank > most) best = [];
    if (rank >= most) best.push(each);
    most = Math.max(most, rank);
  });
  if (!best.length) return NONE;
  const usable = best.filter(({isBlocked}) => !isBlocked);
  if (usable.length) best = usable;
  const [first] = [...best].sort((a, b) => Number(isInWindow(b.box)) - Number(isInWindow(a.box)) || b.use - a.use);
  const isKind = kinds.includes(first.kind);
  const fit = (most - (isKind ? 8 : 0)) / 10;
  return {element: first.element, fit: Math.min(70, 10 + fit * 5 + (isKind ? 4 : 0)), alike: distinct(best.map(({element}) => element))};
}

/** Leave out elements around others, and links to the same place: which of them is meant makes no difference. @param {Element[]} elements @returns {Element[]} */
function distinct(elements) {
  const places = new Set();
  return elements.filter((element) => {
    if (elements.some((other) => other !== element && holds(element, other))) return false;
    const href = attribute(element, 'href');
    if (!href) return true;
    const place = JSON.stringify([href, labelOf(element)]);
    if (places.has(place)) return false;
    places.add(place);
    return true;
  });
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
