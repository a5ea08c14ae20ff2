/**
 * Markdown that grows at its end: complete blocks are rendered once, only the last ones are rendered again, and of these
 * only the differences are applied to the document, so that a selection in it stays.
 */
import {AcFormula} from '../../ui/content/ac-formula.js';
import {blocksOf, markdown} from '../../ui/content/rich-text.js';

/** The definition of a link, which may be at the end of the text, after the blocks that use it. */
const REFERENCE = /^ {0,3}\[[^\]\n]+\]:\s*\S/m;
/** The attribute of what the user opened; it stays while the text grows. */
export const OPEN = 'data-open';
const OPEN_BLOCKS = 2; // a list or a table may include what follows it, even after an empty line

export class GrowingMarkdown {
  /**
   * @param {HTMLElement} target  the element whose children are rendered
   * @param {(made: DocumentFragment) => DocumentFragment} dress  adds what is not in the text
   */
  constructor(target, dress) {
    this._target = target;
    this._dress = dress;
    this._settled = '';
    this._settledNodes = 0;
  }

  /** Show a text. @param {string} text @param {boolean} isWhole  true if the text is complete */
  show(text, isWhole) {
    text = text.replaceAll(/\r\n?/g, '\n'); // as in the blocks
    if (!text.startsWith(this._settled)) this._clear();
    if (isWhole && this._settled && REFERENCE.test(text)) this._clear();
    const rest = text.slice(this._settled.length);
    const blocks = blocksOf(rest, !isWhole);
    const settled = isWhole ? 0 : settledCount(blocks);
    for (const raw of blocks.slice(0, settled)) this._settle(raw);
    this._renderOpen(blocks.slice(settled), !isWhole);
  }

  _clear() {
    this._settled = '';
    this._settledNodes = 0;
    this._target.replaceChildren();
  }

  /** @param {string} raw */
  _settle(raw) {
    const made = this._make(raw);
    patch(this._target, made, this._settledNodes, this._settledNodes + made.length);
    this._settledNodes += made.length;
    this._settled += raw;
  }

  /** @param {string[]} blocks @param {boolean} isGrowing */
  _renderOpen(blocks, isGrowing) {
    patch(this._target, this._make(blocks.join(''), isGrowing), this._settledNodes, Infinity);
  }

  /** @param {string} text @param {boolean} [isGrowing] */
  _make(text, isGrowing = false) {
    return [...this._dress(markdown(text, isGrowing)).childNodes].filter(isContent);
  }
}

/** Return the number of leading blocks that no longer change. @param {string[]} blocks */
function settledCount(blocks) {
  let open = 0;
  for (let at = blocks.length - 1; at >= 0; at -= 1) {
    if (blocks[at].trim()) open += 1;
    if (open === OPEN_BLOCKS) return at;
  }
  return 0;
}

/** True unless a node is only whitespace between blocks. @param {Node} node */
const isContent = (node) => node.nodeType !== Node.TEXT_NODE || Boolean(node.textContent?.trim());

/**
 * Update the children of an element, from an index on, to the wanted nodes, changing only what differs.
 * @param {Node} parent @param {Node[]} wanted @param {number} from @param {number} to  children from here on stay as they are
 */
function patch(parent, wanted, from, to) {
  for (const [index, node] of wanted.entries()) {
    const there = parent.childNodes[from + index];
    if (!there) parent.appendChild(node);
    else if (!patchNode(there, node)) parent.replaceChild(node, there);
  }
  if (to === Infinity) while (parent.childNodes.length > from + wanted.length) parent.lastChild?.remove();
}

/** @param {Node} there @param {Node} wanted @returns {boolean} whether it could be updated in place */
function patchNode(there, wanted) {
  if (there.nodeType !== wanted.nodeType || there.nodeName !== wanted.nodeName) return false;
  if (there instanceof Text) {
    if (there.data !== wanted.textContent) growText(there, wanted.textContent ?? '');
    return true;
  }
  if (!(there instanceof Element) || !(wanted instanceof Element) || there.localName.includes('-')) return isSame(there, wanted);
  patchAttributes(there, wanted);
  patch(there, [...wanted.childNodes], 0, Infinity);
  return true;
}

/** True if nothing differs; what a formula contains is its own. @param {Node} there @param {Node} wanted */
function isSame(there, wanted) {
  if (!(there instanceof AcFormula && wanted instanceof AcFormula)) return there.isEqualNode(wanted);
  return ['raw', 'tex', 'display'].every((name) => there.getAttribute(name) === wanted.getAttribute(name));
}

/** Append to a text that only grew, so that a selection in it stays. @param {Text} there @param {string} wanted */
function growText(there, wanted) {
  if (wanted.startsWith(there.data)) there.appendData(wanted.slice(there.data.length));
  else there.data = wanted;
}

/** @param {Element} there @param {Element} wanted */
function patchAttributes(there, wanted) {
  for (const {name} of [...there.attributes]) if (name !== OPEN && !wanted.hasAttribute(name)) there.removeAttribute(name);
  for (const {name, value} of [...wanted.attributes]) if (there.getAttribute(name) !== value) there.setAttribute(name, value);
}
