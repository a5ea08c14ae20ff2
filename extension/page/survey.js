/** Finds interactive elements. The page is walked in short chunks, with reads of the same kind together and without writes. */
import {attribute, focused, its, nearest} from './native-properties.js';
import {CANDIDATES, CODE_EDITOR, kindOf, secretOf} from './kinds.js';
import {Labels, labelOf, placeholderOf} from './labels.js';
import {boxOf, coverAt, centreOf, isDisabled, isInert, isInWindow, isShown, modalDialog} from './layout.js';
import {Pace} from './chunked-work.js';

/**
 * @typedef {import('./kinds.js').Kind} Kind
 * @typedef {import('./layout.js').Box} Box
 * @typedef {object} Found
 * @property {Element} element
 * @property {Kind} kind
 * @property {Box} box  relative to the viewport
 * @property {boolean} isBlocked  true if a modal dialog blocks it, or it is inert
 * @property {number} use  how likely it is wanted; higher is likelier
 * @property {number} order  the position in the document
 */

/** The time limit for all chunks together. */
const LIMIT_MS = 4000;
/** The maximum number of elements inspected in a page. */
const ELEMENTS = 200_000;
/** The maximum number of elements whose computed cursor is checked. */
const STYLES = 6000;
const OWN_PARTS = 'a[href], button, label, input, select, textarea, summary, [role=button], [role=link], [role=option], [role=tab]';
const POINTED = new Set(['div', 'span', 'li', 'td', 'tr', 'img', 'svg', 'i', 'p', 'section', 'article']);

/** @type {Partial<Record<Kind, number>>} */
const USES = {
  input: 60, password: 55, editor: 55, combobox: 58, select: 52, button: 50, checkbox: 42, radio: 40, switch: 42, date: 52,
  file: 35, slider: 35, color: 30, tab: 34, menuitem: 32, option: 30, link: 25, clickable: 20,
};

/** All interactive elements that are visible now or after scrolling. */
export class Survey {
  constructor() {
    this.labels = new Labels();
    /** @type {Found[]} */
    this.found = [];
    /** Shared by all work on the elements found. */
    this.pace = new Pace(LIMIT_MS);
    /** @type {Map<Element, string>} */
    this._names = new Map();
    this._styles = 0;
  }

  /** Collect the interactive elements of the page. */
  async take() {
    const candidates = await this._candidates();
    const modal = modalDialog();
    const active = focused();
    let order = 0;
    await this.pace.each(candidates, ([element, kind]) => {
      if (!element.isConnected) return;
      const box = boxOf(its(element).closest(CODE_EDITOR) ?? element);
      if (!isShown(element, box)) return;
      const isBlocked = isInert(element, modal);
      const use = usefulness(element, kind, box) + (element === active ? 25 : 0) - (isBlocked ? 2000 : 0);
      this.found.push({element, kind, box, isBlocked, use, order: order++});
    });
    return this;
  }

  /** @param {Found} found */
  nameOf({element}) {
    let name = this._names.get(element);
    if (name === undefined) {
      name = labelOf(element, this.labels);
      this._names.set(element, name);
    }
    return name;
  }

  /**
   * Return the most useful elements, in document order.
   * @param {Found[]} found @param {number} limit
   */
  async best(found, limit) {
    const likely = [...found].sort((a, b) => b.use - a.use || a.order - b.order).slice(0, 4 * limit);
    /** @type {Set<string>} */
    const seen = new Set();
    await this.pace.each(likely, (each) => {
      const name = this.nameOf(each);
      const key = `${each.kind} ${name} ${each.kind === 'link' ? attribute(each.element, 'href') : ''}`;
      if (!name) each.use -= each.kind === 'clickable' ? Infinity : 40;
      else if (seen.has(key)) each.use -= 30;
      seen.add(key);
      const point = isInWindow(each.box) ? centreOf(each.element) : null;
      if (point && coverAt(each.element, point)) each.use -= 300;
    });
    return likely.filter(({use}) => use > -Infinity).sort((a, b) => b.use - a.use || a.order - b.order).slice(0, limit).sort((a, b) => a.order - b.order);
  }

  /** Return the elements whose name or placeholder contains a keyword. @param {Found[]} found @param {string} keyword */
  withKeyword(found, keyword) {
    const wanted = keyword.trim().toLowerCase();
    return this._those(found, (each) => `${this.nameOf(each)} ${placeholderOf(each.element)}`.toLowerCase().includes(wanted));
  }

  /** Return the elements with a name. @param {string} name @param {string[]} kinds  empty: any kind */
  named(name, kinds) {
    return this._those(this.found, (each) => this.nameOf(each) === name && (!kinds.length || kinds.includes(each.kind)));
  }

  /** Return the elements in a region: in landmarks of that kind, or else at the position where such a region usually is. @param {Found[]} found @param {string} region */
  async inRegion(found, region) {
    if (region === 'below_viewport') return found.filter(({box}) => box.top >= innerHeight);
    const named = await this._those(found, ({element}) => nearest(element, REGION_PARTS[region]) !== null);
    return named.length ? named : this._those(found, ({box}) => isAbout(box, region));
  }

  /** @param {Found[]} found @param {(each: Found) => boolean} isMeant @returns {Promise<Found[]>} */
  async _those(found, isMeant) {
    /** @type {Found[]} */
    const kept = [];
    await this.pace.each(found, (each) => { if (isMeant(each)) kept.push(each); });
    return kept;
  }

  /** @returns {Promise<[Element, Kind][]>} */
  async _candidates() {
    /** @type {[Element, Kind][]} */
    const candidates = [];
    let left = ELEMENTS;
    await this.pace.each(elementsIn(document), (element) => {
      if (left-- <= 0) return;
      if (element.localName === 'label') this.labels.add(element);
      const kind = this._kindOf(element);
      if (kind) candidates.push([element, kind]);
      if (kind === 'password') secretOf(element); // remembered as a password even if the page reveals it later
    });
    return candidates;
  }

  /** @param {Element} element @returns {Kind | null} */
  _kindOf(element) {
    if (its(element).matches(CANDIDATES)) {
      const kind = kindOf(element);
      if (kind) return kind;
    }
    if (!POINTED.has(element.localName) || this._styles >= STYLES) return null;
    this._styles++;
    // an element that contains a control, or is inside one, is only part of its rendering
    return isPointedAt(element) && !nearest(element, OWN_PARTS) && !its(element).querySelector(OWN_PARTS) ? 'clickable' : null;
  }
}

/**
 * Yield all elements, those of a shadow root after its host. Elements that the page adds meanwhile are ignored, as the
 * walk through a page that never stops changing would not end.
 * @param {Document | ShadowRoot} root @returns {Generator<Element>}
 */
function* elementsIn(root) {
  for (const element of its(root).querySelectorAll('*')) {
    yield element;
    if (element.shadowRoot) yield* elementsIn(element.shadowRoot);
  }
}

/** Return true if the cursor is a pointer over an element but not over its parent. @param {Element} element */
function isPointedAt(element) {
  if (getComputedStyle(element).cursor !== 'pointer') return false;
  const parent = its(element).parentElement;
  return !parent || getComputedStyle(parent).cursor !== 'pointer';
}

/** @param {Element} element @param {Kind} kind @param {Box} box */
function usefulness(element, kind, box) {
  let use = USES[kind] ?? 10;
  if (isInWindow(box)) use += 1000;
  else if (box.top >= innerHeight) use += 200 - Math.min(150, Math.floor((box.top - innerHeight) / innerHeight) * 10);
  if (isDisabled(element)) use -= 30;
  if (nearest(element, '[aria-hidden=true]')) use -= 1500;
  if (nearest(element, 'footer, [role=contentinfo]')) use -= 20;
  if (nearest(element, 'nav, [role=navigation]')) use -= 8;
  if (nearest(element, 'form, [role=search], [role=form]')) use += 12;
  if (nearest(element, 'main, [role=main]')) use += 6;
  if (nearest(element, 'dialog, [role=dialog], [role=alertdialog]')) use += 40;
  return use;
}

/** @type {Record<string, Set<Kind>>} */
const TYPES = {
  input: new Set(['input', 'password', 'editor', 'combobox', 'date', 'color', 'slider', 'checkbox', 'radio', 'switch', 'file']),
  button: new Set(['button', 'tab', 'menuitem', 'switch', 'clickable']),
  link: new Set(['link']),
  select: new Set(['select', 'combobox', 'option']),
};

/** Return the elements of a type. @param {Found[]} found @param {string | undefined} type */
export function ofType(found, type) {
  const kinds = type ? TYPES[type] : undefined;
  return kinds ? found.filter(({kind}) => kinds.has(kind)) : found;
}

/** @type {Record<string, string>} */
const REGION_PARTS = {
  form: 'form, [role=form], [role=search], fieldset',
  header: 'header, [role=banner], nav, [role=navigation]',
  sidebar: 'aside, [role=complementary], [class*=sidebar i]',
  footer: 'footer, [role=contentinfo]',
};

/** Return true if a box is where a region usually is. @param {Box} box @param {string} region */
function isAbout(box, region) {
  const {scrollWidth, scrollHeight} = its(document).documentElement;
  switch (region) {
    case 'header': return box.bottom + scrollY <= 120;
    case 'sidebar': return box.right <= scrollWidth * 0.25 || box.left >= scrollWidth * 0.75;
    case 'footer': return box.top + scrollY >= Math.max(innerHeight, scrollHeight) - 150;
    default: return false;
  }
}
