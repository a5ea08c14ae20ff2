/** Typesets formulas with KaTeX. Imported when a text has the first one. */
import katex from 'katex';
import rules from '../../vendor/katex/styles.js';

const SIZE_EM = 20;
const EXPANSIONS = 500;
const STYLE = 'data-style';
const DEFINITION = /\\(?:[gex]?def|let|futurelet|(?:re|provide)?(?:new)?command)(?![a-zA-Z])/;
/** What a formula with definitions of its own may have: a few characters could grow to millions otherwise. */
const DEFINING_CHARS = 500;
const DEFINING_EXPANSIONS = 50;

/** Parse a formula into KaTeX's own elements; its types do not declare it. */
const {__renderToDomTree: buildTree} = /** @type {any} */ (katex);

const styles = new CSSStyleSheet();
styles.replaceSync(rules);
// browsers ignore fonts that are declared inside of a shadow root
const fonts = document.createElement('link');
fonts.rel = 'stylesheet';
fonts.href = new URL('../../vendor/katex/fonts.css', import.meta.url).href;
document.head.append(fonts);

/**
 * Typeset a formula: for the eye, and as MathML for screen readers.
 * @param {string} tex
 * @param {HTMLElement} target
 * @param {boolean} isDisplay
 * @throws if it is no formula, or exceeds a limit
 */
export function typeset(tex, target, isDisplay) {
  const isDefining = DEFINITION.test(tex);
  if (isDefining && tex.length > DEFINING_CHARS) throw new Error(`more than ${DEFINING_CHARS} characters with definitions`);
  const tree = buildTree(tex, {
    displayMode: isDisplay,
    throwOnError: true,
    trust: (/** @type {{command: string}} */ {command}) => { throw new Error(`${command} is not supported`); }, // links, images, ids, classes, styles
    strict: 'ignore', // Chinese text, for example
    maxSize: SIZE_EM,
    maxExpand: isDefining ? DEFINING_EXPANSIONS : EXPANSIONS,
    macros: {}, // of this formula only
  });
  renameStyles(tree);
  target.replaceChildren(tree.toNode());
  for (const element of /** @type {NodeListOf<SVGElement>} */ (target.querySelectorAll(`[${STYLE}]`))) {
    element.style.cssText = element.getAttribute(STYLE) ?? '';
    element.removeAttribute(STYLE);
  }
}

/**
 * Rename the style attributes of a tree: the page's policy forbids them, but not the same styles set by a script. KaTeX sets all
 * others in this way itself.
 * @param {any} node
 */
function renameStyles(node) {
  if (node.attributes?.style) {
    node.attributes[STYLE] = node.attributes.style;
    delete node.attributes.style;
  }
  for (const child of node.children ?? []) renameStyles(child);
}

/** Let the root that contains an element have the styles of formulas. @param {Element} element */
export function addStyles(element) {
  const root = /** @type {Document | ShadowRoot} */ (element.getRootNode());
  if (!root.adoptedStyleSheets.includes(styles)) root.adoptedStyleSheets.push(styles);
}
