/** Finds elements, including those inside components: `ac-sidebar >>> a` searches the shadow root of each match. */

/** Return all elements that match a selector, in document order within each root. @param {string} selector @returns {Element[]} */
export function all(selector) {
  const parts = selector.split('>>>').map((part) => part.trim());
  /** @type {Element[]} */
  let found = matches(document, parts[0]);
  for (const part of parts.slice(1)) {
    found = found.flatMap((host) => (host.shadowRoot ? matches(host.shadowRoot, part) : []));
  }
  return [...new Set(found)];
}

/** Return the first match. @param {string} selector @returns {Element} */
export function one(selector) {
  const [first] = all(selector);
  if (!first) throw new Error(`no element matches ${JSON.stringify(selector)}`);
  return first;
}

/** Return every open root of the page: the document and the shadow roots of components. @returns {(Document | ShadowRoot)[]} */
export function roots() {
  return [document, ...shadowsIn(document)];
}

/** @param {Document | ShadowRoot | Element} root @returns {ShadowRoot[]} */
export function shadowsIn(root) {
  return [...root.querySelectorAll('*')].flatMap(({shadowRoot}) => (shadowRoot ? [shadowRoot, ...shadowsIn(shadowRoot)] : []));
}

/** @param {Document | ShadowRoot} root @param {string} selector @returns {Element[]} */
function matches(root, selector) {
  return [root, ...shadowsIn(root)].flatMap((inner) => [...inner.querySelectorAll(selector)]);
}
