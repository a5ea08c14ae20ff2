/** Settings as returned by the server, as rows of a form, and the user's changes to them. */
import {valueAt, withValueAt} from '../schema/paths.js';
import {shapeOf} from '../schema/shape.js';

/**
 * @typedef {import('../schema/shape.js').Schema} Schema
 *
 * @typedef {object} Origin  Where a value comes from; a value without one is a default.
 * @property {'default' | 'app' | 'module' | 'environment'} kind
 * @property {string | null} file
 * @property {number | null} line
 * @property {string | null} variable
 * @property {boolean} isReadOnly
 *
 * @typedef {object} Problem
 * @property {string} path
 * @property {string} message
 * @property {string | null} file
 * @property {number | null} line
 * @property {string | null} variable
 *
 * @typedef {object} SettingsDocument  The response of `/api/settings`; locations are JSON Pointers.
 * @property {string | null} module
 * @property {string[]} files
 * @property {string} digest
 * @property {Schema | null} schema
 * @property {Record<string, any>} values
 * @property {string[]} withheld
 * @property {Record<string, Origin>} origins
 * @property {Problem[]} problems
 * @property {string[]} policy
 * @property {boolean} mayChangePolicy
 * @property {boolean} policyIsConfirmed  True if policy changes need a confirmation in the approval view.
 * @property {string[]} waitsForConfirmation
 * @property {string[]} overApp  Settings in both the module's own file and app.json: the value in app.json applies again once the other is removed.
 * @property {string[]} waitsForRestart
 * @property {boolean} waitsForReload
 *
 * @typedef {object} Row  One setting.
 * @property {string[]} path
 * @property {string} pointer
 * @property {Schema} part
 * @property {'setting' | 'unknown'} kind  `unknown`: it is set, but no such setting exists.
 *
 * @typedef {object} Group
 * @property {string[]} path
 * @property {string} pointer
 * @property {Schema} schema
 * @property {Row[]} rows
 * @property {Group[]} groups
 *
 * @typedef {{value: unknown} | {remove: true}} Change
 * @typedef {Map<string, Change>} Changes  By pointer.
 */

const DEPTH = 4;
const SHOWN_EMPTY = new Set(['text', 'number', 'date', 'json', 'union']);

/** Return a path as a JSON Pointer (RFC 6901). @param {(string | number)[]} path */
export function pointerOf(path) {
  return path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** @param {string} pointer */
export function pathOf(pointer) {
  return pointer.split('/').slice(1).map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Return true if a pointer equals another one or is inside it. @param {string} pointer @param {string} around */
export function isInside(pointer, around) {
  return pointer === around || pointer.startsWith(`${around}/`);
}

/** Return the rows of a document; settings that are objects of known settings become groups. @param {SettingsDocument} document @returns {Group} */
export function groupsOf(document) {
  const root = document.schema ?? {};
  return groupOf(document, root, root, []);
}

/** @param {SettingsDocument} document @param {Schema} root @param {Schema} part @param {string[]} path @returns {Group} */
function groupOf(document, root, part, path) {
  const {schema} = shapeOf(part, root);
  /** @type {Group} */
  const group = {path, pointer: pointerOf(path), schema, rows: [], groups: []};
  for (const [name, inner] of Object.entries(schema.properties ?? {})) {
    const at = [...path, name];
    const shape = shapeOf(inner, root);
    const isGroup = shape.kind === 'object' && !shape.isNullable && Object.keys(shape.schema.properties ?? {}).length > 0 && at.length < DEPTH;
    if (isGroup) group.groups.push(groupOf(document, root, /** @type {Schema} */ (inner), at));
    else group.rows.push({path: at, pointer: pointerOf(at), part: /** @type {Schema} */ (inner), kind: 'setting'});
  }
  group.rows.push(...strangers(document, schema, path));
  return group;
}

/** Return rows for what is set in a group but not in its schema. @param {SettingsDocument} document @param {Schema} schema @param {string[]} path @returns {Row[]} */
function strangers(document, schema, path) {
  const isOpen = schema.additionalProperties !== undefined && schema.additionalProperties !== false;
  return Object.keys(document.origins).map(pathOf)
    .filter((at) => at.length === path.length + 1 && path.every((step, index) => step === at[index]))
    .filter((at) => !Object.hasOwn(schema.properties ?? {}, at[path.length]))
    .map((at) => ({path: at, pointer: pointerOf(at), part: {}, kind: isOpen ? 'setting' : 'unknown'}));
}

/** Return every row of a group and of the groups in it. @param {Group} group @returns {Row[]} */
export function rowsOf(group) {
  return [...group.rows, ...group.groups.flatMap(rowsOf)];
}

/** Return the value that a field shows for a row; undefined for a default that the field itself can show as such. @param {SettingsDocument} document @param {Row} row @param {Changes} changes */
export function shownValue(document, row, changes) {
  const change = changes.get(row.pointer);
  if (change && 'value' in change) return change.value;
  const set = change ? undefined : valueAt(document.values, row.path);
  if (set !== undefined) return set;
  const {kind, schema} = shapeOf(row.part, document.schema ?? {});
  return SHOWN_EMPTY.has(kind) ? undefined : schema.default;
}

/**
 * Return the changes with another value at a path in a row; a value that equals the saved one is no change.
 * @param {SettingsDocument} document
 * @param {Changes} changes
 * @param {Row} row
 * @param {(string | number)[]} path  at or inside the row
 * @param {unknown} value  undefined: not set
 * @returns {Changes}
 */
export function changed(document, changes, row, path, value) {
  const next = withValueAt(shownValue(document, row, changes), path.slice(row.path.length), value);
  return next === undefined ? unset(document, changes, row) : withChange(changes, row, isSaved(document, row, next) ? null : {value: next});
}

/**
 * Return true if a row can be removed from the file that changes are written to: a module's setting that is only in app.json stays there.
 * @param {SettingsDocument} document
 * @param {Row} row
 */
export function isRemovable({module, origins, overApp}, {pointer}) {
  const origin = origins[pointer];
  return Boolean(origin) && (module === null || origin.kind === 'module' || overApp.includes(pointer));
}

/** Return the changes with a row removed from its file. @param {SettingsDocument} document @param {Changes} changes @param {Row} row */
export function unset(document, changes, row) {
  return withChange(changes, row, document.origins[row.pointer] ? {remove: true} : null);
}

/** Return the changes without that of a row. @param {Changes} changes @param {Row} row */
export function undone(changes, row) {
  return withChange(changes, row, null);
}

/** Return the changes that still differ from the settings, after these have changed. @param {SettingsDocument} document @param {Changes} changes */
export function stillWanted(document, changes) {
  const rows = new Map(rowsOf(groupsOf(document)).map((row) => [row.pointer, row]));
  return new Map([...changes].filter(([pointer, change]) => {
    const row = rows.get(pointer);
    if (!row) return false;
    return 'value' in change ? !isSaved(document, row, change.value) : Boolean(document.origins[pointer]);
  }));
}

/** Return the changes in the form that the server accepts. @param {SettingsDocument} document @param {Changes} changes */
export function bodyOf(document, changes) {
  return [...changes].flatMap(([path, change]) => ('value' in change ? partsOf(document, path, change.value) : [{path, ...change}]));
}

/** Split a change of an object into changes of its keys, recursively where values are withheld, so that withheld values and those from other files are preserved. @param {SettingsDocument} document @param {string} path @param {any} value @returns {object[]} */
function partsOf(document, path, value) {
  const saved = /** @type {any} */ (valueAt(document.values, pathOf(path)));
  if (!isObject(saved) || !isObject(value)) return [{path, value}];
  const at = (/** @type {string} */ key) => `${path}${pointerOf([key])}`;
  const gone = Object.keys(saved).filter((key) => !Object.hasOwn(value, key));
  const given = Object.entries(value).filter(([key, part]) => JSON.stringify(saved[key]) !== JSON.stringify(part));
  const hides = (/** @type {string} */ key) => document.withheld.some((pointer) => isInside(pointer, at(key)));
  return [
    ...gone.map((key) => ({path: at(key), remove: true})),
    ...given.flatMap(([key, part]) => (hides(key) ? partsOf(document, at(key), part) : [{path: at(key), value: part}])),
  ];
}

/** @param {unknown} value */
const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);

/** @param {SettingsDocument} document @param {Row} row @param {unknown} value */
function isSaved(document, row, value) {
  const {schema} = shapeOf(row.part, document.schema ?? {});
  const saved = document.origins[row.pointer] ? valueAt(document.values, row.path) : schema.default;
  return saved !== undefined && JSON.stringify(saved) === JSON.stringify(value);
}

/** @param {Changes} changes @param {Row} row @param {Change | null} change @returns {Changes} */
function withChange(changes, {pointer}, change) {
  const next = new Map(changes);
  if (change) next.set(pointer, change);
  else next.delete(pointer);
  return next;
}

/**
 * Return why the user cannot change a row here; null if they can.
 * @param {SettingsDocument} document
 * @param {Row} row
 * @returns {'secret' | 'policy' | 'environment' | null}
 */
export function lockOf(document, {pointer, kind}) {
  const fixed = Object.entries(document.origins).some(([at, origin]) => origin.isReadOnly && isInside(at, pointer));
  if (fixed) return 'environment';
  if (kind === 'unknown' || document.mayChangePolicy) return null;
  const hides = document.withheld.some((at) => isInside(at, pointer));
  if (isSecret(document, pointer) || (hides && !document.policy.includes(pointer))) return 'secret';
  return document.policy.includes(pointer) || hides ? 'policy' : null;
}

/** Return true if a change of a row needs a confirmation. @param {SettingsDocument} document @param {Row} row */
export function waitsForPerson(document, {pointer, kind}) {
  return document.policyIsConfirmed && (kind === 'unknown' || document.policy.includes(pointer) || isSecret(document, pointer));
}

/** Return true if a row is a secret according to its schema. @param {SettingsDocument} document @param {string} pointer */
export function isSecret(document, pointer) {
  const path = pathOf(pointer);
  let part = /** @type {Schema} */ (document.schema ?? {});
  for (const step of path) part = shapeOf(part, document.schema ?? {}).schema.properties?.[step] ?? {};
  const {schema, options} = shapeOf(part, document.schema ?? {});
  return Boolean(schema.writeOnly) || (options.length > 0 && options.every((option) => option.writeOnly));
}

/** Return the problems that belong to a row. @param {SettingsDocument} document @param {Row} row */
export function problemsOf(document, {pointer}) {
  return document.problems.filter(({path}) => path && isInside(path, pointer));
}

/** Return the problems that belong to no row. @param {SettingsDocument} document @param {Group} group */
export function problemsElsewhere(document, group) {
  const rows = rowsOf(group);
  return document.problems.filter(({path}) => !path || !rows.some(({pointer}) => isInside(path, pointer)));
}

/** Return the environment variable that sets a row. @param {SettingsDocument} document @param {Row} row @param {string} key of the module's settings */
export function variableOf(document, {path}, key) {
  const steps = document.module === null ? path : ['config', key, ...path];
  return `AGENTCORE_${steps.join('__').toUpperCase()}`;
}
