import {resolve} from '../schema/shape.js';

/** Translations that modules provide for the texts of their tools. */

/**
 * @typedef {{description?: string | null, arguments: Record<string, string>}} Translation  of one tool, in one language; arguments by name, nested ones by path (`edits.old`)
 * @typedef {import('../schema/shape.js').Schema} Schema
 */

const SAME_VALUE = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const EACH_VALUE = ['items', 'additionalProperties'];
const DEPTH = 32; // deeper than schemas nest; a list may contain itself

/** Return the schema of a tool's arguments with translated descriptions. @template {Schema} S @param {S} schema @param {Translation | undefined} texts @returns {S} */
export function translatedSchema(schema, texts) {
  return texts ? /** @type {S} */ (translatedPart(schema, schema, '', texts.arguments)) : schema;
}

/** Translate a part of a schema; follow references only to translated parts. @param {any} part @param {Schema} root @param {string} path @param {Record<string, string>} texts @returns {any} */
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
