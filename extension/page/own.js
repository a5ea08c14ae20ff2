/**
 * What nodes have of themselves. A script of the extension has its own prototypes, which a page cannot overwrite; but a
 * field takes the place of its form's property of that name (`<input name="parentNode">`), and a picture or a form that of
 * its document, for us too. So whatever may be a form or a document is read by `its(node)`.
 */

/** @type {ProxyHandler<any>} */
const own = {
  get(node, name) {
    const value = Reflect.get(Object.getPrototypeOf(node), name, node);
    return typeof value === 'function' ? value.bind(node) : value;
  },
};

/** A node to read from; the DOM does not take it as a node. @template {Node} N @param {N} node @returns {N} */
export function its(node) {
  return node instanceof HTMLFormElement || node instanceof Document ? new Proxy(node, own) : node;
}

/** An attribute, or an empty string. @param {Element} element @param {string} name */
export function attribute(element, name) {
  return its(element).getAttribute(name) ?? '';
}

/** The element that a node is drawn in; null: none. @param {Node} node @returns {Element | null} */
export function drawnIn(node) {
  const slot = node instanceof Element || node instanceof Text ? node.assignedSlot : null;
  if (slot) return slot;
  const parent = its(node).parentNode;
  if (parent instanceof ShadowRoot) return parent.host;
  return parent instanceof Element ? parent : null;
}

/** Whether a node is an element, or is drawn in it. @param {Element} element @param {Node | null} node */
export function holds(element, node) {
  for (let each = node; each; each = drawnIn(each)) if (each === element) return true;
  return false;
}

/** The nearest element that fits, itself included, shadow roots notwithstanding. @param {Element} element @param {string} selector */
export function nearest(element, selector) {
  for (let each = /** @type {Element | null} */ (element); each; each = drawnIn(each)) {
    if (its(each).matches(selector)) return each;
  }
  return null;
}

/** What is drawn at a point of the window, inside of open shadow roots too. @param {number} x @param {number} y */
export function elementAt(x, y) {
  let found = its(document).elementFromPoint(x, y);
  for (;;) {
    const inner = found?.shadowRoot?.elementFromPoint(x, y);
    if (!inner || inner === found) return found;
    found = inner;
  }
}

/** The element with the focus, inside of open shadow roots too. */
export function focused() {
  let found = its(document).activeElement;
  while (found?.shadowRoot?.activeElement) found = found.shadowRoot.activeElement;
  return found;
}

/** The document or shadow root that an element is in. @param {Node} node @returns {Document | ShadowRoot | null} */
export function rootOf(node) {
  const root = its(node).getRootNode();
  return root instanceof Document || root instanceof ShadowRoot ? root : null;
}

/** Text on one line. @param {string | null | undefined} text @param {number} [limitChars] */
export function tidy(text, limitChars = 120) {
  // what is not seen could hide instructions, or the end of a label
  const line = (text ?? '').slice(0, 20 * limitChars).replace(/[\p{Cf}\p{Cc}]+/gu, ' ').replace(/\s+/g, ' ').trim();
  return line.length > limitChars ? `${line.slice(0, limitChars - 1).trimEnd()}…` : line;
}
