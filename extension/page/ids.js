/** Ids of elements. They exist only in this script's world, so a page can neither see nor forge them; an id is valid while its element exists. */

/** @type {WeakMap<Element, string>} */
const ids = new WeakMap();
/** @type {Map<string, WeakRef<Element>>} */
const elements = new Map();
const gone = new FinalizationRegistry((/** @type {string} */ id) => elements.delete(id));

/** Return the stable id of an element. @param {Element} element */
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

/** Return the element with an id if it is still in the page. @param {string} id @returns {Element | null} */
export function elementOf(id) {
  const element = elements.get(id)?.deref();
  return element?.isConnected ? element : null;
}
