/** Assigns the server's errors to the fields of a form. */
import {parsePath, valueAt} from './paths.js';
import {resolve, shapeOf, valuesSchema} from './shape.js';
import {optionOf} from './validate.js';

/**
 * @typedef {import('./shape.js').Schema} Schema
 * @typedef {import('./paths.js').Path} Path
 * @typedef {import('./validate.js').FieldError} FieldError
 */

/**
 * Return the server's errors with the paths of the fields that they refer to. The server's paths include variants of unions
 * (`edits.list[Edit][0].old`), which are not part of the value's path and are removed here.
 * @param {{path?: string, message: string}[]} errors
 * @param {Schema} schema
 * @param {unknown} value
 * @returns {FieldError[]}
 */
export function placedErrors(errors, schema, value) {
  return errors.map(({path: text = '', message}) => {
    const path = pathInValue(parsePath(text), schema, value);
    return path.length || !text ? {path, message} : {path, message: `${text}: ${message}`};
  });
}

/** @param {Path} path @param {Schema} root @param {unknown} value @returns {Path} */
function pathInValue(path, root, value) {
  /** @type {Path} */
  const found = [];
  /** @type {Schema} */
  let part = root;
  for (const step of path) {
    const inner = partBelow(part, step, root, valueAt(value, found));
    if (inner === null) continue;
    found.push(step);
    part = inner;
  }
  return found;
}

/**
 * Return the schema below a part at one step of a path, or null if the step does not lead into the value.
 * @param {Schema} part @param {string | number} step @param {Schema} root @param {unknown} value @returns {Schema | null}
 */
function partBelow(part, step, root, value) {
  const {kind, schema, options} = shapeOf(part, root);
  if (kind === 'union') return partBelow(options[optionOf(value, options, root)], step, root, value);
  if (typeof step === 'number') {
    return kind === 'list' || kind === 'tuple' ? resolve(schema.prefixItems?.[step] ?? schema.items, root) : null;
  }
  if (kind !== 'object' && kind !== 'map') return null;
  if (Object.hasOwn(schema.properties ?? {}, step)) return schema.properties[step];
  return valueAt(value, [step]) === undefined ? null : valuesSchema(schema) ?? {};
}
