/** Which elements there are to act on: the page is walked in small pieces, reads of the same kind together, without a write. */
import {attribute, focused, its, nearest} from './own.js';
import {CANDIDATES, CODE_EDITOR, kindOf, secretOf} from './kinds.js';
import {Labels, labelOf, placeholderOf} from './labels.js';
import {coverAt, centreOf, isDisabled, isInert, isInWindow, isShown, modalDialog} from './layout.js';
import {Pace} from './pace.js';

/**
 * @typedef {import('./kinds.js').Kind} Kind
 * @typedef {import('./layout.js').Box} Box
 * @typedef {object} Found
 * @property {Element} element
 * @property {Kind} kind
 * @property {Box} box  in the window
 * @property {boolean} isBlocked  a modal dialog is over it, or it is inert
 * @property {number} use  how likely it is wanted; more is likelier
 * @property {number} order  in the document
 */

/** For all pieces together. */
const LIMIT_MS = 4000;
/** Elements of one page that are looked at. */
const ELEMENTS = 200_000;
/** Elements whose style is asked for a pointing hand. */
const STYLES = 6000;
const OWN_PARTS = 'a[href], button, label, input, select, textarea, summary, [role=button], [role=link], [role=option], [role=tab]';
const POINTED = new Set(['div', 'span', 'li', 'td', 'tr', 'img', 'svg', 'i', 'p', 'section', 'article']);

/** @type {Partial<Record<Kind, number>>} */
const USES = {
  input: 60, password: 55, editor: 55, combobox: 58, select: 52, button: 50, checkbox: 42, radio: 40, switch: 42, date: 52,
  file: 35, slider: 35, color: 30, tab: 34, menuitem: 32, option: 30, link: 25, clickable: 20,
};

/** All that may be acted on, shown to a person now or after scrolling. */
export class Survey {
  constructor() {
    this.labels = new Labels();
    /** @type {Found[]} */
    this.found = [];
    /** Of the work on all that was found. */
    this.pace = new Pace(LIMIT_MS);
    /** @type {Map<Element, string>} */
    this._names = new Map();
    this._styles = 0;
  }

  /** Look at the page as it is. */
  async take() {
    const candidates = await this._candidates();
    const modal = modalDialog();
    const active = focused();
    let order = 0;
    await this.pace.each(candidates, ([element, kind]) => {
      if (!element.isConnected) return;
      const box = (its(element).closest(CODE_EDITOR) ?? element).getBoundingClientRect();
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
   * The most useful ones, in the order of the document.
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

  /** Those whose name or placeholder has a word. @param {Found[]} found @param {string} keyword */
  withKeyword(found, keyword) {
    const wanted = keyword.trim().toLowerCase();
    return this._those(found, (each) => `${this.nameOf(each)} ${placeholderOf(each.element)}`.toLowerCase().includes(wanted));
  }

  /** Those of a name. @param {string} name @param {string[]} kinds  none: of any */
  named(name, kinds) {
    return this._those(this.found, (each) => this.nameOf(each) === name && (!kinds.length || kinds.includes(each.kind)));
  }

  /** Those in a part of the page: what the page calls so, or else what is where such a part would be. @param {Found[]} found @param {string} region */
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
      if (kind === 'password') secretOf(element); // which it stays if the page shows what is in it
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
    // what has a control, or is in one, is what is drawn of it
    return isPointedAt(element) && !nearest(element, OWN_PARTS) && !its(element).querySelector(OWN_PARTS) ? 'clickable' : null;
  }
}

/**
 * All elements, those of a shadow root after the element that has it. What the page adds meanwhile does not count: a page
 * that never stops changing would never come to its end.
 * @param {Document | ShadowRoot} root @returns {Generator<Element>}
 */
function* elementsIn(root) {
  for (const element of its(root).querySelectorAll('*')) {
    yield element;
    if (element.shadowRoot) yield* elementsIn(element.shadowRoot);
  }
}

/** Whether the pointer becomes a hand over an element, and not over all around it. @param {Element} element */
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

/** Those of a kind. @param {Found[]} found @param {string | undefined} type */
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

/** Whether a place is where a part of the page would be. @param {Box} box @param {string} region */
function isAbout(box, region) {
  const {scrollWidth, scrollHeight} = its(document).documentElement;
  switch (region) {
    case 'header': return box.bottom + scrollY <= 120;
    case 'sidebar': return box.right <= scrollWidth * 0.25 || box.left >= scrollWidth * 0.75;
    case 'footer': return box.top + scrollY >= Math.max(innerHeight, scrollHeight) - 150;
    default: return false;
  }
}
