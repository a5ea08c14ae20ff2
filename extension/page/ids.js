/** Names for elements. They are known here alone, so a page neither sees nor makes one; each is valid as long as its element lives. */

/** @type {WeakMap<Element, string>} */
const ids = new WeakMap();
/** @type {Map<string, WeakRef<Element>>} */
const elements = new Map();
const gone = new FinalizationRegistry((/** @type {string} */ id) => elements.delete(id));

/** The id of an element, the same each time. @param {Element} element */
export function idOf(element) {
  const known = ids.get(element);
  if (known) return known;
  const random = [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => (byte % 36).toString(36)).join('');
  const id = `e_${Date.now()}_${random}`;
  ids.set(element, id);
  elements.set(id, new WeakRef(element));
  gone.register(element, id);
  return id;
}

/** The element of an id, if it is in the page now. @param {string} id @returns {Element | null} */
export function elementOf(id) {
  const element = elements.get(id)?.deref();
  return element?.isConnected ? element : null;
}
