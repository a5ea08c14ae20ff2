/** Ids of elements. They exist only in this script's world, so a page can neither see nor forge them; an id is valid while its element exists. */

/** @typedef {{kind: string, label: string}} Name */

/** @type {WeakMap<Element, string>} */
const ids = new WeakMap();
/** Kind and name with which an element was last described. @type {WeakMap<Element, Name>} */
const reported = new WeakMap();
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

/** Remember how an element is described to a model. @param {Element} element @param {Name} name */
export function setReported(element, name) {
  reported.set(element, name);
}

/** Return how an element was last described. @param {Element} element @returns {Name | undefined} */
export function reportedOf(element) {
  return reported.get(element);
}

/** Return the element with an id if it is still in the page. @param {string} id @returns {Element | null} */
export function elementOf(id) {
  const element = elements.get(id)?.deref();
  return element?.isConnected ? element : null;
}
