/** Initial values of a form: required ones only, so that a call sends no more than what the user entered. */
import {shapeOf} from './shape.js';

/** @typedef {import('./shape.js').Schema} Schema */

const DEPTH = 12; // a schema may require itself, which no finite value satisfies

/**
 * Return the initial value of a part of a form: its default or its only possible value, else its empty value; undefined if the
 * user has to enter something.
 * @param {Schema} part
 * @param {Schema} root
 * @returns {any}
 */
export function initialValue(part, root, depth = 0) {
  const {schema} = shapeOf(part, root);
  return Object.hasOwn(schema, 'default') ? structuredClone(schema.default) : emptyValue(part, root, depth);
}

/**
 * Return the same, but ignore the default of the part itself: the value that a user gets when adding the part.
 * @param {Schema} part
 * @param {Schema} root
 * @returns {any}
 */
export function emptyValue(part, root, depth = 0) {
  const {kind, schema, options, choices} = shapeOf(part, root);
  if (depth > DEPTH) return undefined;
  switch (kind) {
    case 'constant': return structuredClone(schema.const);
    case 'null': return null;
    case 'boolean': return false;
    case 'choice': return choices.length === 1 ? choices[0] : undefined;
    case 'object': return initialObject(schema, root, depth);
    case 'map': return {};
    case 'many': return [];
    case 'list': return Array.from({length: schema.minItems ?? 0}, () => initialValue(schema.items, root, depth + 1) ?? null);
    case 'tuple': return schema.prefixItems.map((/** @type {Schema} */ one) => initialValue(one, root, depth + 1) ?? null);
    case 'union': return initialValue(options[0], root, depth + 1);
    default: return undefined;
  }
}

/** @param {Schema} schema @param {Schema} root @param {number} depth */
function initialObject(schema, root, depth) {
  const required = new Set(schema.required ?? []);
  const names = Object.keys(schema.properties ?? {}).filter((name) => required.has(name));
  const entries = names.map((name) => [name, initialValue(schema.properties[name], root, depth + 1)]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}
