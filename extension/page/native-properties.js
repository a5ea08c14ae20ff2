/**
 * Reads native properties of nodes. A content script has its own prototypes, which a page cannot overwrite; but named
 * fields shadow properties of their form (`<input name="parentNode">`), and named images and forms those of the document,
 * for us too. So anything that may be a form or a document is read through `its(node)`.
 */

/** @type {ProxyHandler<any>} */
const own = {
  get(node, name) {
    const value = Reflect.get(Object.getPrototypeOf(node), name, node);
    return typeof value === 'function' ? value.bind(node) : value;
  },
};

/** Return a node for reading; DOM methods do not accept it as an argument. @template {Node} N @param {N} node @returns {N} */
export function its(node) {
  return node instanceof HTMLFormElement || node instanceof Document ? new Proxy(node, own) : node;
}

/** Return an attribute, or an empty string. @param {Element} element @param {string} name */
export function attribute(element, name) {
  return its(element).getAttribute(name) ?? '';
}

/** Return the parent in the flat tree; null if there is none. @param {Node} node @returns {Element | null} */
export function drawnIn(node) {
  const slot = node instanceof Element || node instanceof Text ? node.assignedSlot : null;
  if (slot) return slot;
  const parent = its(node).parentNode;
  if (parent instanceof ShadowRoot) return parent.host;
  return parent instanceof Element ? parent : null;
}

/** Return true if a node is the element or is rendered inside it. @param {Element} element @param {Node | null} node */
export function holds(element, node) {
  for (let each = node; each; each = drawnIn(each)) if (each === element) return true;
  return false;
}

/** Return the closest matching element, including the element itself, across shadow roots. @param {Element} element @param {string} selector */
export function nearest(element, selector) {
  for (let each = /** @type {Element | null} */ (element); each; each = drawnIn(each)) {
    if (its(each).matches(selector)) return each;
  }
  return null;
}

/** Return the element at a point of the viewport, including inside open shadow roots. @param {number} x @param {number} y */
export function elementAt(x, y) {
  let found = its(document).elementFromPoint(x, y);
  for (;;) {
    const inner = found?.shadowRoot?.elementFromPoint(x, y);
    if (!inner || inner === found) return found;
    found = inner;
  }
}

/** Return the focused element, including inside open shadow roots. */
export function focused() {
  let found = its(document).activeElement;
  while (found?.shadowRoot?.activeElement) found = found.shadowRoot.activeElement;
  return found;
}

/** Return the document or shadow root that contains a node. @param {Node} node @returns {Document | ShadowRoot | null} */
export function rootOf(node) {
  const root = its(node).getRootNode();
  return root instanceof Document || root instanceof ShadowRoot ? root : null;
}

/** Return text on one line, truncated. @param {string | null | undefined} text @param {number} [limitChars] */
export function tidy(text, limitChars = 120) {
  // invisible characters could hide instructions, or the end of a label
  const line = (text ?? '').slice(0, 20 * limitChars).replace(/[\p{Cf}\p{Cc}]+/gu, ' ').replace(/\s+/g, ' ').trim();
  return line.length > limitChars ? `${line.slice(0, limitChars - 1).trimEnd()}…` : line;
}
