/**
 * Places inside a JSON value: read, changed without touching the old value, written and read as the server writes them.
 *
 * @typedef {(string | number)[]} Path  Names of properties and indexes of lists, from the outside in.
 */

const PARTS = /\[(\d+)\]|[^.[]+(?:\[(?!\d+\])[^\]]*\]?)*/g;

/**
 * A path as the server writes it: `edits[0].old`.
 * @param {Path} path
 */
export function pathText(path) {
  return path.reduce((/** @type {string} */ text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text ? `${text}.${part}` : part;
  }, '');
}

/**
 * The path that a text of the server means; a part that names a variant (`list[Edit]`) stays one part.
 * @param {string} text
 * @returns {Path}
 */
export function parsePath(text) {
  return [...text.matchAll(PARTS)].map(([part, index]) => (index === undefined ? part : Number(index)));
}

/**
 * The value at a path; undefined when the path leads nowhere.
 * @param {unknown} value
 * @param {Path} path
 * @returns {unknown}
 */
export function valueAt(value, path) {
  let at = /** @type {any} */ (value);
  for (const part of path) {
    if (at === null || typeof at !== 'object' || !Object.hasOwn(at, part)) return undefined;
    at = at[part];
  }
  return at;
}

/**
 * The value with another one at a path; undefined takes the property away. What lies beside the path is shared.
 * @param {unknown} value
 * @param {Path} path
 * @param {unknown} next
 * @returns {unknown}
 */
export function withValueAt(value, path, next) {
  if (path.length === 0) return next;
  const [head, ...rest] = path;
  if (typeof head === 'number') {
    const list = Array.isArray(value) ? [...value] : [];
    list[head] = withValueAt(list[head], rest, next);
    return list;
  }
  const isObject = value !== null && typeof value === 'object' && !Array.isArray(value);
  const entries = isObject ? Object.entries(value) : [];
  const changed = withValueAt(isObject ? valueAt(value, [head]) : undefined, rest, next);
  const others = entries.filter(([name]) => name !== head || changed !== undefined);
  const kept = others.map(([name, part]) => [name, name === head ? changed : part]);
  // fromEntries makes a name such as __proto__ a property like any other
  return Object.fromEntries(
    changed === undefined || entries.some(([name]) => name === head) ? kept : [...kept, [head, changed]],
  );
}

/**
 * Whether one path lies at or below another.
 * @param {Path} path
 * @param {Path} above
 */
export function isWithin(path, above) {
  return above.length <= path.length && above.every((part, index) => part === path[index]);
}
