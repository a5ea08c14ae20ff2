/**
 * Paths in a JSON value: reads and immutable updates of values, and the server's text format.
 *
 * @typedef {(string | number)[]} Path  Property names and list indexes, from the outside in.
 */

const PARTS = /\[(\d+)\]|[^.[]+(?:\[(?!\d+\])[^\]]*\]?)*/g;

/**
 * Format a path as the server does: `edits[0].old`.
 * @param {Path} path
 */
export function pathText(path) {
  return path.reduce((/** @type {string} */ text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text ? `${text}.${part}` : part;
  }, '');
}

/**
 * Parse a path in the server's format; a part that names a variant (`list[Edit]`) remains one part.
 * @param {string} text
 * @returns {Path}
 */
export function parsePath(text) {
  return [...text.matchAll(PARTS)].map(([part, index]) => (index === undefined ? part : Number(index)));
}

/**
 * Return the value at a path, or undefined if there is none.
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
 * Return a copy of a value with another value at a path; undefined removes the property. Parts outside the path are shared.
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
  // fromEntries treats a name such as __proto__ as an ordinary property
  return Object.fromEntries(
    changed === undefined || entries.some(([name]) => name === head) ? kept : [...kept, [head, changed]],
  );
}

/**
 * Return true if one path is at or below another.
 * @param {Path} path
 * @param {Path} above
 */
export function isWithin(path, above) {
  return above.length <= path.length && above.every((part, index) => part === path[index]);
}
