/**
 * The only place where text becomes elements: Markdown and highlighted code, through the sanitiser. The result contains no
 * script, style or form, no name that could clobber the DOM, and nothing that is loaded from elsewhere.
 */
import DOMPurify from 'dompurify';
import hljs from 'highlight.js';
import {Marked} from 'marked';
import {AcFormula, loadTypesetting} from './ac-formula.js';
import {formulas} from './formula-syntax.js';

const HIGHLIGHT_CHARS = 200_000; // beyond this, highlighting takes too long
/** HTML in Markdown is shown as source, except for line breaks. */
const marked = new Marked({gfm: true, async: false, renderer: {html: ({text}) => (/^<br *\/?>$/i.test(text) ? '<br>' : escaped(text))}});
/** The text that is being parsed, without space at its end, if it is still being written; empty otherwise. */
let growing = '';
marked.use(formulas(placeOf, (rest) => growing !== '' && growing.endsWith(rest.trimEnd())));
const SCHEMES = new Set(['http:', 'https:', 'mailto:']);

/**
 * Render Markdown as elements.
 * @param {string} text
 * @param {boolean} [isGrowing]  true if more of it follows: the start of a formula is shown as its source then
 * @returns {DocumentFragment}
 */
export function markdown(text, isGrowing = false) {
  const fragment = clean(parsed(text, isGrowing, () => String(marked.parse(text))), {
    USE_PROFILES: {html: true},
    FORBID_TAGS: ['style', 'form', 'button', 'select', 'textarea', 'dialog', 'audio', 'video', 'source', 'template', 'slot'],
    FORBID_ATTR: ['style', 'id', 'name', 'slot', 'part', 'srcset', 'background', 'popover'],
    ALLOW_DATA_ATTR: false,
  });
  for (const link of fragment.querySelectorAll('a')) mendLink(link);
  for (const image of fragment.querySelectorAll('img')) mendImage(image);
  for (const box of fragment.querySelectorAll('input')) box.replaceWith(box.checked ? '☑ ' : '☐ ');
  for (const table of fragment.querySelectorAll('table')) frameTable(table);
  for (const block of fragment.querySelectorAll('pre')) mendBlock(block);
  for (const place of fragment.querySelectorAll('var')) replaceByFormula(place);
  return fragment;
}

/**
 * Return the source of the blocks of Markdown: paragraphs, lists, fenced code. All but the last two stay the same when text is
 * appended, so that a growing text need not be parsed again from its start.
 * @param {string} text
 * @param {boolean} [isGrowing]
 * @returns {string[]}
 */
export function blocksOf(text, isGrowing = false) {
  return parsed(text, isGrowing, () => marked.lexer(text)).map(({raw}) => raw);
}

/** @template T @param {string} text @param {boolean} isGrowing @param {() => T} parse @returns {T} */
function parsed(text, isGrowing, parse) {
  growing = isGrowing ? text.trimEnd() : '';
  return parse();
}

/** The place of a formula, which the sanitiser lets through: its source. No other Markdown becomes a `var`. @param {import('./formula-syntax.js').Formula & {isOpen: boolean}} formula */
function placeOf({raw, tex, isDisplay, isOpen}) {
  if (isOpen) void loadTypesetting();
  const kind = isOpen ? 'open' : isDisplay ? 'display' : 'inline';
  return `<var class="${kind}" title="${escaped(tex)}">${escaped(raw.trim())}</var>`;
}

/** @param {HTMLElement} place */
function replaceByFormula(place) {
  const raw = place.textContent ?? '';
  if (place.className === 'open') {
    const source = document.createElement('span');
    source.className = 'tex';
    source.textContent = raw;
    return place.replaceWith(source);
  }
  const formula = new AcFormula();
  formula.setAttribute('raw', raw);
  formula.setAttribute('tex', place.title);
  formula.toggleAttribute('display', place.className === 'display');
  place.replaceWith(formula);
}

/**
 * Highlight code by CSS classes; return plain text if the language is unknown or the text is too long.
 * @param {string} text
 * @param {string} language
 * @returns {DocumentFragment | string}
 */
export function highlighted(text, language) {
  if (!language || text.length > HIGHLIGHT_CHARS || !hljs.getLanguage(language)) return text;
  const {value} = hljs.highlight(text, {language, ignoreIllegals: true});
  return clean(value, {ALLOWED_TAGS: ['span'], ALLOWED_ATTR: ['class']});
}

/** @param {string} text */
const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** @param {string} html @param {object} options @returns {DocumentFragment} */
function clean(html, options) {
  return DOMPurify.sanitize(html, {...options, RETURN_DOM_FRAGMENT: true});
}

/** @param {HTMLAnchorElement} link */
function mendLink(link) {
  const address = URL.parse(link.getAttribute('href') ?? '');
  if (!address || !SCHEMES.has(address.protocol)) return link.removeAttribute('href');
  link.target = '_blank';
  link.rel = 'noopener noreferrer nofollow';
}

/** Replace an external image with a link: loading it would reveal the reader to its server. @param {HTMLImageElement} image */
function mendImage(image) {
  const source = image.getAttribute('src') ?? '';
  if (/^data:image\/(png|jpeg|gif|webp);base64,/.test(source)) return;
  const address = URL.parse(source);
  const link = document.createElement('a');
  link.textContent = image.alt || source;
  if (address && SCHEMES.has(address.protocol)) link.href = address.href;
  mendLink(link);
  image.replaceWith(link);
}

/** @param {HTMLTableElement} table */
function frameTable(table) {
  const frame = document.createElement('div');
  frame.className = 'table-frame';
  frame.tabIndex = 0;
  table.replaceWith(frame);
  frame.append(table);
}

/** @param {HTMLPreElement} block */
function mendBlock(block) {
  const code = block.querySelector('code');
  const language = /language-([\w+-]+)/.exec(code?.className ?? '')?.[1] ?? '';
  code?.replaceChildren(highlighted(code.textContent ?? '', language));
  block.className = 'code';
  block.dataset.language = language;
  block.tabIndex = 0;
}
