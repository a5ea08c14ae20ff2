/**
 * The shape of a part of a JSON Schema, from the point of view of a form: the kind of field and its details.
 *
 * @typedef {Record<string, any>} Schema
 * @typedef {'text' | 'number' | 'boolean' | 'choice' | 'constant' | 'date' | 'file' | 'object' | 'map' | 'list' |
 *   'tuple' | 'many' | 'union' | 'null' | 'json'} Kind
 * @typedef {object} Shape
 * @property {Kind} kind
 * @property {Schema} schema        The part with its references resolved and its `allOf` merged.
 * @property {boolean} isNullable   True if null is allowed in addition to the kind.
 * @property {any[]} choices        The values of a `choice`, or of the elements of `many`.
 * @property {string[]} titles      The labels of the choices.
 * @property {Schema[]} options     The alternatives of a `union`.
 */

const DATE_FORMATS = new Set(['date', 'time', 'date-time']);
const REFERENCES = 32; // deeper than schemas nest references; limits references to themselves

/** @type {WeakMap<Schema, WeakMap<Schema, Shape>>} */
const known = new WeakMap();

/**
 * Return the shape of a part of a schema.
 * @param {Schema} part
 * @param {Schema} root  The whole schema, which references are relative to.
 * @returns {Shape}
 */
export function shapeOf(part, root) {
  let ofRoot = known.get(root);
  if (!ofRoot) known.set(root, (ofRoot = new WeakMap()));
  let shape = ofRoot.get(part);
  if (!shape) ofRoot.set(part, (shape = makeShape(resolve(part, root), root)));
  return shape;
}

/**
 * Return the part with its references resolved and its `allOf` merged.
 * @param {Schema | boolean | undefined} part
 * @param {Schema} root
 * @returns {Schema}
 */
export function resolve(part, root, depth = 0) {
  if (part === undefined || typeof part === 'boolean' || depth > REFERENCES) return {};
  let schema = part;
  if (typeof schema.$ref === 'string') {
    const {$ref, ...beside} = schema;
    schema = {...resolve(target($ref, root), root, depth + 1), ...beside};
  }
  if (Array.isArray(schema.allOf)) {
    const {allOf, ...beside} = schema;
    schema = [...allOf.map((/** @type {Schema} */ one) => resolve(one, root, depth + 1)), beside].reduce(merged, {});
  }
  return schema;
}

/** @param {string} reference @param {Schema} root @returns {Schema} */
function target(reference, root) {
  if (!reference.startsWith('#')) return {};
  const names = reference.slice(1).split('/').filter(Boolean)
    .map((name) => decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~'));
  return names.reduce((/** @type {any} */ at, name) => at?.[name], root) ?? {};
}

/** @param {Schema} one @param {Schema} other @returns {Schema} */
function merged(one, other) {
  const both = {...one, ...other};
  if (one.properties && other.properties) both.properties = {...one.properties, ...other.properties};
  if (one.required && other.required) both.required = [...new Set([...one.required, ...other.required])];
  return both;
}

/** @param {Schema} schema @param {Schema} root @returns {Shape} */
function makeShape(schema, root) {
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(alternatives)) return shapeOfAlternatives(schema, alternatives, root);
  if (Array.isArray(schema.type)) {
    const {type, ...beside} = schema;
    return shapeOfAlternatives(beside, type.map((/** @type {string} */ one) => ({type: one})), root);
  }
  const shape = {schema, isNullable: false, choices: [], titles: [], options: []};
  if (Object.hasOwn(schema, 'const')) return {...shape, kind: schema.const === null ? 'null' : 'constant'};
  if (Array.isArray(schema.enum)) {
    const choices = schema.enum.filter((/** @type {any} */ value) => value !== null);
    return {...shape, kind: 'choice', choices, titles: choices.map(String), isNullable: choices.length < schema.enum.length};
  }
  const kind = KINDS[schema.type ?? typeImpliedByKeywords(schema)]?.(schema, root) ?? 'json';
  if (kind !== 'many') return {...shape, kind};
  const {choices, titles} = shapeOf(schema.items, root);
  return {...shape, kind, choices, titles};
}

/** @param {Schema} schema @param {Schema[]} alternatives @param {Schema} root @returns {Shape} */
function shapeOfAlternatives(schema, alternatives, root) {
  const {anyOf, oneOf, discriminator, ...beside} = schema;
  const resolved = alternatives.map((one) => resolve(one, root));
  const options = resolved.filter((one) => one.type !== 'null' && one.const !== null);
  const isNullable = options.length < resolved.length;
  if (options.length === 1) {
    const shape = shapeOf(merged(options[0], beside), root);
    return {...shape, isNullable: isNullable || shape.isNullable};
  }
  const choices = options.flatMap((one) => (Object.hasOwn(one, 'const') ? [one.const] : one.enum ?? [undefined]));
  if (options.length > 0 && choices.every((value) => value !== undefined && typeof value !== 'object')) {
    return {kind: 'choice', schema: beside, isNullable, choices, titles: options.flatMap(titlesOf), options: []};
  }
  if (options.length === 0) return {kind: isNullable ? 'null' : 'json', schema: beside, isNullable: false, choices: [], titles: [], options};
  return {kind: 'union', schema: beside, isNullable, choices: [], titles: [], options: flattened(options, root)};
}

/** @param {Schema} option @returns {string[]} */
function titlesOf(option) {
  return Object.hasOwn(option, 'const') ? [String(option.title ?? option.const)] : option.enum.map(String);
}

/** Flatten nested unions into one list of options. @param {Schema[]} options @param {Schema} root @returns {Schema[]} */
function flattened(options, root) {
  return options.flatMap((option) => {
    const shape = shapeOf(option, root);
    return shape.kind === 'union' ? shape.options : [option];
  });
}

/** @type {Record<string, (schema: Schema, root: Schema) => Kind>} */
const KINDS = {
  boolean: () => 'boolean',
  integer: () => 'number',
  number: () => 'number',
  null: () => 'null',
  string: (schema) => {
    if (isFile(schema)) return 'file';
    return DATE_FORMATS.has(schema.format) ? 'date' : 'text';
  },
  array: (schema, root) => {
    if (Array.isArray(schema.prefixItems)) return 'tuple';
    if (!schema.items || typeof schema.items !== 'object') return 'json';
    return schema.uniqueItems && shapeOf(schema.items, root).kind === 'choice' ? 'many' : 'list';
  },
  object: (schema) => {
    if (Object.keys(schema.properties ?? {}).length > 0) return 'object';
    if (schema.additionalProperties === false) return 'object';
    return valuesSchema(schema) ? 'map' : 'json';
  },
};

/** Return true if a text contains the bytes of a file. @param {Schema} schema */
function isFile(schema) {
  return ['base64', 'base64url'].includes(schema.contentEncoding) || ['base64', 'byte', 'binary'].includes(schema.format);
}

/** Return the type that the keywords of a schema without a type imply. @param {Schema} schema */
function typeImpliedByKeywords(schema) {
  if (schema.properties || schema.additionalProperties || schema.patternProperties) return 'object';
  if (schema.items || schema.prefixItems) return 'array';
  if (schema.pattern || schema.minLength !== undefined || schema.maxLength !== undefined) return 'string';
  if (schema.minimum !== undefined || schema.maximum !== undefined) return 'number';
  return 'unknown';
}

/**
 * Return the schema of an object's values under arbitrary names; null if it accepts none, or any.
 * @param {Schema} schema
 * @returns {Schema | null}
 */
export function valuesSchema(schema) {
  const patterns = Object.values(schema.patternProperties ?? {});
  if (schema.additionalProperties && typeof schema.additionalProperties === 'object') {
    return Object.keys(schema.additionalProperties).length ? schema.additionalProperties : null;
  }
  return patterns.length === 1 ? patterns[0] : null;
}

/**
 * Return true if the field of a shape can show a value.
 * @param {Shape} shape
 * @param {unknown} value
 */
export function canShow(shape, value) {
  if (value === undefined || (value === null && shape.isNullable)) return true;
  const isObject = value !== null && typeof value === 'object';
  switch (shape.kind) {
    case 'text': case 'date': case 'file': return typeof value === 'string';
    case 'number': return typeof value === 'number';
    case 'boolean': return typeof value === 'boolean';
    case 'choice': return shape.choices.includes(value);
    case 'object': case 'map': return isObject && !Array.isArray(value);
    case 'list': case 'tuple': return Array.isArray(value);
    case 'many': return Array.isArray(value) && value.every((one) => shape.choices.includes(one));
    case 'null': return value === null;
    default: return true;
  }
}
