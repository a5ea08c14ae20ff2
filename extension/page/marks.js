/**
 * Highlights and underlines, without changes to the DOM: elements are marked by a paused animation, text by the CSS
 * Custom Highlight API. So the page's markup stays identical, and changes the page makes meanwhile are preserved.
 */
import {focused, its, rootOf, tidy} from './native-properties.js';
import {nameOf} from './click.js';
import {isSeenIn} from './labels.js';
import {selectionIn} from './context.js';
import {Pace} from './chunked-work.js';
import {Refusal, done} from './reply.js';

const COLOURS = {highlight: '#ffeb3b', underline: '#e53935'};
/** The time limit for searching a page for a text. */
const SEARCH_MS = 4000;
const UNMARKED = new Set(['script', 'style', 'noscript', 'template', 'textarea', 'select']);

/** @typedef {'highlight' | 'underline'} Kind */

/** @type {Set<Animation>} */
const animations = new Set();
/** Names of highlights. @type {Set<string>} */
const highlights = new Set();
/** @type {Map<Document | ShadowRoot, CSSStyleSheet>} */
const sheets = new Map();
let marks = 0;

/** @param {Kind} kind @param {Element} element @param {string | undefined} color @returns {import('./reply.js').Reply} */
export function markElement(kind, element, color) {
  const colour = validColour(kind, color);
  element.scrollIntoView({block: 'nearest', behavior: 'instant'});
  if (kind === 'underline' && !element.shadowRoot && its(element).textContent?.trim()) {
    const range = document.createRange();
    range.selectNodeContents(element);
    return markRanges(kind, [range], color, nameOf(element));
  }
  const style = kind === 'highlight'
    ? {backgroundColor: colour, color: readableOn(colour), outline: `3px solid ${colour}`}
    : {boxShadow: `0 3px 0 0 ${colour}`};
  const frames = Object.fromEntries(Object.entries(style).map(([name, value]) => [name, [value, value]]));
  const animation = element.animate(frames, {duration: 1e9, fill: 'both'});
  animation.pause();
  animations.add(animation);
  marks++;
  return done(kind === 'highlight' ? 'highlighted' : 'underlined', {label: nameOf(element)});
}

/** Mark the user's selection. @param {Kind} kind @param {string | undefined} color @returns {import('./reply.js').Reply | null}  null: nothing is selected here */
export function markSelection(kind, color) {
  const selection = selectionIn(focused());
  if (!selection) return null;
  const ranges = [];
  for (let index = 0; index < selection.rangeCount; index++) ranges.push(selection.getRangeAt(index).cloneRange());
  return markRanges(kind, ranges, color, selection.toString());
}

/**
 * Mark the first occurrence of a text in a scope, even across elements.
 * @param {Kind} kind @param {string} text @param {Element | null} scope @param {string | undefined} color
 * @returns {Promise<import('./reply.js').Reply | null>}  null: the text was not found
 */
export async function markText(kind, text, scope, color) {
  const range = await rangeOf(text, scope ?? its(document).body ?? its(document).documentElement);
  if (!range) return null;
  range.startContainer.parentElement?.scrollIntoView({block: 'nearest', behavior: 'instant'});
  return markRanges(kind, [range], color, text);
}

/** Remove all marks and return how many there were. */
export function clearMarks() {
  const count = marks;
  for (const animation of animations) animation.cancel();
  for (const name of highlights) CSS.highlights.delete(name);
  for (const [root, sheet] of sheets) root.adoptedStyleSheets = root.adoptedStyleSheets.filter((each) => each !== sheet);
  animations.clear();
  highlights.clear();
  sheets.clear();
  marks = 0;
  return count;
}

/** @param {Kind} kind @param {Range[]} ranges @param {string | undefined} color @param {string} text */
function markRanges(kind, ranges, color, text) {
  const colour = validColour(kind, color);
  const name = `h${crypto.randomUUID().slice(0, 8)}`;
  const highlight = new Highlight(...ranges);
  highlight.priority = ++marks;
  CSS.highlights.set(name, highlight);
  highlights.add(name);
  for (const root of new Set(ranges.map((range) => rootOf(range.startContainer)))) if (root) addRule(root, name, kind, colour);
  return done(kind === 'highlight' ? 'highlighted' : 'underlined', {label: tidy(text, 60)});
}

/** @param {Document | ShadowRoot} root @param {string} name @param {Kind} kind @param {string} colour */
function addRule(root, name, kind, colour) {
  let sheet = sheets.get(root);
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheets.set(root, sheet);
    root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
  }
  const rule = /** @type {CSSStyleRule} */ (sheet.cssRules[sheet.insertRule(`::highlight(${name}) {}`)]);
  if (kind === 'highlight') {
    rule.style.setProperty('background-color', colour);
    rule.style.setProperty('color', readableOn(colour));
  } else {
    rule.style.setProperty('text-decoration', `underline 2px ${colour}`);
  }
}

/** @param {Kind} kind @param {string | undefined} color */
function validColour(kind, color) {
  if (!color) return COLOURS[kind];
  if (!CSS.supports('color', color) || color.length > 64) throw new Refusal('noColour', {value: tidy(color, 40)});
  return color;
}

/** Return black or white, whichever is more readable on a colour. @param {string} colour */
function readableOn(colour) {
  const context = new OffscreenCanvas(1, 1).getContext('2d');
  if (!context) return '#000';
  context.fillStyle = '#fff'; // the background of translucent colours
  context.fillRect(0, 0, 1, 1);
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  const [red, green, blue] = context.getImageData(0, 0, 1, 1).data;
  return 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? '#000' : '#fff';
}

/** Return the range of a text, ignoring case and differences in whitespace. @param {string} wanted @param {Element} scope @returns {Promise<Range | null>} */
async function rangeOf(wanted, scope) {
  const text = [...wanted.trim().replace(/\s+/g, ' ')].map(folded).join('');
  const pace = new Pace(SEARCH_MS);
  for (const root of text ? rootsIn(scope) : []) {
    const range = await rangeIn(text, root, pace);
    if (range) return range;
  }
  return null;
}

/** Return an element and all shadow roots inside it. @param {Element | ShadowRoot} scope @returns {(Element | ShadowRoot)[]} */
function rootsIn(scope) {
  const inner = [scope, ...its(scope).querySelectorAll('*')].flatMap((each) => (each instanceof Element && each.shadowRoot ? rootsIn(each.shadowRoot) : []));
  return [scope, ...inner];
}

/** Fold the case of a letter, unless that changes its length, which would shift positions. @param {string} letter */
function folded(letter) {
  const small = letter.toLowerCase();
  return small.length === letter.length ? small : letter;
}

/** @param {string} text @param {Element | ShadowRoot} root @param {Pace} pace */
async function rangeIn(text, root, pace) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  /** The position of each letter of `all`. @type {[Text, number][]} */
  const places = [];
  let all = '';
  for (let node = walker.nextNode(); node && !pace.isOver; node = walker.nextNode()) {
    if (pace.isDue) await pace.rest();
    const inner = /** @type {Text} */ (node);
    if (!isMarkable(inner)) continue;
    const from = Math.max(0, all.length - text.length);
    for (let index = 0; index < inner.data.length; index++) {
      const letter = /\s/.test(inner.data[index]) ? ' ' : inner.data[index];
      if (letter === ' ' && all.endsWith(' ')) continue;
      all += folded(letter);
      places.push([inner, index]);
    }
    const start = all.indexOf(text, from);
    if (start >= 0) return rangeAt(places[start], places[start + text.length - 1]);
  }
  return null;
}

/** @param {[Text, number]} first @param {[Text, number]} last @returns {Range | null} null: the page has changed meanwhile */
function rangeAt(first, last) {
  if (![first, last].every(([node, index]) => node.isConnected && index < node.length)) return null;
  const range = document.createRange();
  range.setStart(...first);
  range.setEnd(last[0], last[1] + 1);
  return range;
}

/** @param {Text} node */
function isMarkable({parentElement}) {
  return parentElement !== null && !UNMARKED.has(parentElement.localName) && isSeenIn(parentElement);
}
