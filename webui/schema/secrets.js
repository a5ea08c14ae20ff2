/** Secrets in a value, identified by its schema. */
import {shapeOf, valuesSchema} from './shape.js';
import {optionOf} from './validate.js';

/** Replaces the value of a secret, here and in what the server shows. */
export const MASK = '•••';

/** @typedef {import('./shape.js').Schema} Schema */

/**
 * Return the value without its secrets, for storage that must not contain them.
 * @param {any} value
 * @param {Schema} part
 * @param {Schema} [root]
 * @returns {any}
 */
export function withoutSecrets(value, part, root = part) {
  const {kind, schema, options} = shapeOf(part, root);
  if (schema.format === 'password' || schema.writeOnly) return undefined;
  if (value === null || typeof value !== 'object') return value;
  if (kind === 'union') return withoutSecrets(value, options[optionOf(value, options, root)], root);
  if (Array.isArray(value)) {
    return value.map((one, index) => withoutSecrets(one, schema.prefixItems?.[index] ?? schema.items ?? {}, root));
  }
  const others = valuesSchema(schema) ?? {};
  const entries = Object.entries(value).map(([name, one]) => [name, withoutSecrets(one, ownPart(schema, name) ?? others, root)]);
  return Object.fromEntries(entries.filter(([, one]) => one !== undefined));
}

/** @param {Schema} schema @param {string} name @returns {Schema | undefined} */
const ownPart = (schema, name) => (Object.hasOwn(schema.properties ?? {}, name) ? schema.properties[name] : undefined);
