import {resolve} from '../schema/shape.js';

/** What modules say of their tools in other languages than that of their authors. */

/**
 * @typedef {{description?: string | null, arguments: Record<string, string>}} Translation  of one tool, in one language; arguments by name, those within others by path (`edits.old`)
 * @typedef {import('../schema/shape.js').Schema} Schema
 */

const SAME_VALUE = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const EACH_VALUE = ['items', 'additionalProperties'];
const DEPTH = 32; // deeper than schemas nest, and a list may be one of itself

/** The schema of a tool's arguments in a language. @template {Schema} S @param {S} schema @param {Translation | undefined} texts @returns {S} */
export function translatedSchema(schema, texts) {
  return texts ? /** @type {S} */ (translatedPart(schema, schema, '', texts.arguments)) : schema;
}

/** A part with what is said below its path; references are followed only where something is said. @param {any} part @param {Schema} root @param {string} path @param {Record<string, string>} texts @returns {any} */
function translatedPart(part, root, path, texts, depth = 0) {
  const isSaidOf = !path || Object.keys(texts).some((key) => key.startsWith(`${path}.`));
  if (!isSaidOf || depth > DEPTH || typeof part !== 'object' || part === null) return part;
  const schema = typeof part.$ref === 'string' ? resolve(part, root) : part;
  /** @type {Schema} */
  const translated = {...schema};
  if (schema.properties) {
    const said = Object.entries(schema.properties).map(([name, one]) => {
      const at = path ? `${path}.${name}` : name;
      const inner = translatedPart(one, root, at, texts, depth + 1);
      return [name, Object.hasOwn(texts, at) ? {...inner, description: texts[at]} : inner];
    });
    translated.properties = Object.fromEntries(said);
  }
  for (const key of EACH_VALUE) if (key in schema) translated[key] = translatedPart(schema[key], root, path, texts, depth + 1);
  for (const key of SAME_VALUE) {
    if (Array.isArray(schema[key])) translated[key] = schema[key].map((/** @type {any} */ one) => translatedPart(one, root, path, texts, depth + 1));
  }
  return translated;
}
