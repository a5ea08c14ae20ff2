/**
 * Validates a value before a call is sent. The server is authoritative: anything that is not understood here passes.
 */
import {resolve, shapeOf, valuesSchema} from './shape.js';

/**
 * @typedef {import('./shape.js').Schema} Schema
 * @typedef {import('./paths.js').Path} Path
 * @typedef {object} FieldError
 * @property {Path} path
 * @property {string} [message]                 The server's text.
 * @property {string} [key]                     Key of the page's own text if there is no message.
 * @property {Record<string, any>} [values]     Values to insert into the text.
 */

const DEPTH = 64;

/**
 * Return the errors of a value, outer ones first.
 * @param {unknown} value
 * @param {Schema} part
 * @param {Schema} root
 * @param {Path} [path]
 * @returns {FieldError[]}
 */
export function errorsOf(value, part, root, path = []) {
  if (path.length > DEPTH) return [];
  const schema = resolve(part, root);
  if (value === undefined) return [{path, key: 'form.error.required'}];
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(alternatives)) return errorsOfAlternatives(value, schema, root, path);
  const wrong = wrongType(value, schema) ?? wrongValue(value, schema);
  if (wrong) return [{path, ...wrong}];
  if (typeof value === 'string') return wrap(wrongText(value, schema), path);
  if (typeof value === 'number') return wrap(wrongNumber(value, schema), path);
  if (Array.isArray(value)) return errorsOfList(value, schema, root, path);
  return value !== null && typeof value === 'object' ? errorsOfObject(value, schema, root, path) : [];
}

/**
 * Return the index of the alternative that a value is meant to be: one that it satisfies, else the closest one.
 * @param {unknown} value
 * @param {Schema[]} options
 * @param {Schema} root
 */
export function optionOf(value, options, root) {
  const found = options.map((option, index) => ({index, weight: distance(value, option, root)}));
  return found.reduce((best, one) => (one.weight < best.weight ? one : best), found[0])?.index ?? 0;
}

/** Return how far a value is from satisfying a schema. @param {unknown} value @param {Schema} option @param {Schema} root */
function distance(value, option, root) {
  const errors = errorsOf(value, option, root);
  // a wrong type or constant weighs more than many nested errors
  return errors.reduce((sum, error) => sum + (error.path.length === 0 || error.key === 'form.error.constant' ? 100 : 1), 0);
}

/** @param {unknown} value @param {Schema} schema @param {Schema} root @param {Path} path @returns {FieldError[]} */
function errorsOfAlternatives(value, schema, root, path) {
  const shape = shapeOf(schema, root);
  if (value === null && shape.isNullable) return [];
  if (shape.kind === 'choice') return shape.choices.includes(value) ? [] : [{path, ...notOneOf(shape.choices)}];
  const options = shape.kind === 'union' ? shape.options : [shape.schema];
  return errorsOf(value, options[optionOf(value, options, root)], root, path);
}

/** @param {Omit<FieldError, 'path'> | null} wrong @param {Path} path @returns {FieldError[]} */
const wrap = (wrong, path) => (wrong ? [{path, ...wrong}] : []);

/** @param {any[]} choices */
const notOneOf = (choices) => ({key: 'form.error.choice', values: {choices: choices.map(String).join(', ')}});

/** @type {Record<string, (value: unknown) => boolean>} */
const TYPES = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number' && Number.isFinite(value),
  integer: (value) => typeof value === 'number' && Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: (value) => Array.isArray(value),
  object: (value) => value !== null && typeof value === 'object' && !Array.isArray(value),
};

/** @param {unknown} value @param {Schema} schema */
function wrongType(value, schema) {
  const types = [schema.type ?? []].flat().filter((type) => type in TYPES);
  if (types.length === 0 || types.some((type) => TYPES[type](value))) return null;
  return {key: `form.error.type.${types[0]}`};
}

/** @param {unknown} value @param {Schema} schema */
function wrongValue(value, schema) {
  if (Object.hasOwn(schema, 'const') && !isSame(value, schema.const)) {
    return {key: 'form.error.constant', values: {value: JSON.stringify(schema.const)}};
  }
  if (Array.isArray(schema.enum) && !schema.enum.some((/** @type {any} */ one) => isSame(one, value))) {
    return notOneOf(schema.enum);
  }
  return null;
}

/** @param {string} value @param {Schema} schema */
function wrongText(value, schema) {
  const length = [...value].length; // code points, as the server counts
  if (length < (schema.minLength ?? 0)) return {key: 'form.error.minLength', values: {n: schema.minLength}};
  if (length > (schema.maxLength ?? Infinity)) return {key: 'form.error.maxLength', values: {n: schema.maxLength}};
  if (schema.pattern && patternOf(schema.pattern)?.test(value) === false) {
    return {key: 'form.error.pattern', values: {pattern: schema.pattern}};
  }
  return null;
}

/** Compile a pattern, or return null if browsers do not support its syntax. @param {string} text */
function patternOf(text) {
  try {
    return new RegExp(text, 'u');
  } catch {
    return null;
  }
}

/** @param {number} value @param {Schema} schema */
function wrongNumber(value, schema) {
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return {key: 'form.error.inexact'};
  const {minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf} = schema;
  if (value < minimum) return {key: 'form.error.minimum', values: {n: minimum}};
  if (value > maximum) return {key: 'form.error.maximum', values: {n: maximum}};
  if (value <= exclusiveMinimum) return {key: 'form.error.exclusiveMinimum', values: {n: exclusiveMinimum}};
  if (value >= exclusiveMaximum) return {key: 'form.error.exclusiveMaximum', values: {n: exclusiveMaximum}};
  const steps = value / multipleOf;
  // 0.3 is a multiple of 0.1, despite binary rounding
  if (multipleOf && Math.abs(steps - Math.round(steps)) > 1e-9) return {key: 'form.error.multipleOf', values: {n: multipleOf}};
  return null;
}

/** @param {unknown[]} value @param {Schema} schema @param {Schema} root @param {Path} path @returns {FieldError[]} */
function errorsOfList(value, schema, root, path) {
  const errors = wrap(wrongLength(value, schema), path);
  const first = schema.prefixItems ?? [];
  value.forEach((one, index) => {
    const part = first[index] ?? schema.items;
    if (part && typeof part === 'object') errors.push(...errorsOf(one, part, root, [...path, index]));
  });
  return errors;
}

/** @param {unknown[]} value @param {Schema} schema */
function wrongLength(value, schema) {
  if (value.length < (schema.minItems ?? 0)) return {key: 'form.error.minItems', values: {n: schema.minItems}};
  if (value.length > (schema.maxItems ?? Infinity)) return {key: 'form.error.maxItems', values: {n: schema.maxItems}};
  const texts = schema.uniqueItems ? value.map((one) => JSON.stringify(one)) : [];
  return new Set(texts).size < texts.length ? {key: 'form.error.unique'} : null;
}

/** @param {object} value @param {Schema} schema @param {Schema} root @param {Path} path @returns {FieldError[]} */
function errorsOfObject(value, schema, root, path) {
  const properties = schema.properties ?? {};
  const missing = (schema.required ?? []).filter((/** @type {string} */ name) => !isThere(value, name));
  const errors = missing.map((/** @type {string} */ name) => ({path: [...path, name], key: 'form.error.required'}));
  const others = valuesSchema(schema);
  for (const [name, one] of Object.entries(value)) {
    if (one === undefined) continue;
    if (Object.hasOwn(properties, name)) errors.push(...errorsOf(one, properties[name], root, [...path, name]));
    else if (others) errors.push(...errorsOf(one, others, root, [...path, name]));
    else if (schema.additionalProperties === false) errors.push({path: [...path, name], key: 'form.error.unknown'});
  }
  return errors;
}

/** @param {object} value @param {string} name */
const isThere = (value, name) => Object.hasOwn(value, name) && /** @type {any} */ (value)[name] !== undefined;

/** @param {unknown} one @param {unknown} other */
const isSame = (one, other) => one === other || JSON.stringify(one) === JSON.stringify(other);
