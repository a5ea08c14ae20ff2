/** Validates the arguments of a model, strictly, as they are untrusted. */

/**
 * @typedef {{elementId?: string, selector?: string, description?: string}} Target
 * @typedef {{value?: string, color?: string, direction?: string}} Params
 * @typedef {{action: string, target: Target, params: Params}} Action
 */

export const ACTIONS = ['fill', 'click', 'highlight', 'underline', 'select', 'check', 'scroll', 'read'];
export const DIRECTIONS = ['up', 'down', 'top', 'bottom'];
export const REGIONS = ['form', 'header', 'sidebar', 'footer', 'below_viewport'];
export const TYPES = ['input', 'button', 'link', 'select', 'all'];
const LIMIT_ACTIONS = 50;
const LIMIT_CHARS = {elementId: 64, selector: 2000, description: 500, value: 100_000, color: 64, direction: 10, keyword: 200, region: 20, elementType: 10};

/** Thrown when arguments are invalid. */
export class BadArguments extends Error {}

/** @param {any} given @returns {Action[]} @throws {BadArguments} */
export function readActions(given) {
  const actions = isObject(given) ? given.actions : undefined;
  if (!Array.isArray(actions) || !actions.length) throw new BadArguments('actions: a list with at least one action');
  if (actions.length > LIMIT_ACTIONS) throw new BadArguments(`actions: at most ${LIMIT_ACTIONS}`);
  return actions.map((action, index) => readAction(action, `actions[${index}]`));
}

/** @param {any} given @param {string} where @returns {Action} */
function readAction(given, where) {
  if (!isObject(given)) throw new BadArguments(`${where}: an object`);
  if (!ACTIONS.includes(given.action)) throw new BadArguments(`${where}.action: one of ${ACTIONS.join(', ')}`);
  if (!isObject(given.target)) throw new BadArguments(`${where}.target: an object, {} for the selection`);
  const params = given.params ?? {};
  if (!isObject(params)) throw new BadArguments(`${where}.params: an object`);
  return {
    action: given.action,
    target: strings(given.target, ['elementId', 'selector', 'description'], `${where}.target`),
    params: {
      ...strings(params, ['color'], `${where}.params`),
      ...valueIn(params.value, `${where}.params.value`),
      ...oneOf(params, 'direction', DIRECTIONS, `${where}.params`),
    },
  };
}

/** @param {any} given @returns {{region?: string, elementType?: string, keyword?: string}} @throws {BadArguments} */
export function readWanted(given) {
  if (!isObject(given ?? {})) throw new BadArguments('an object');
  const wanted = given ?? {};
  return {...strings(wanted, ['keyword'], 'arguments'), ...oneOf(wanted, 'region', REGIONS, 'arguments'), ...oneOf(wanted, 'elementType', TYPES, 'arguments')};
}

/** @param {any} value @returns {value is Record<string, any>} */
function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @param {any} value @param {string} where @returns {{value?: string}} */
function valueIn(value, where) {
  if (value === undefined || value === null) return {};
  if (!['string', 'number', 'boolean'].includes(typeof value)) throw new BadArguments(`${where}: a text`);
  return strings({value: String(value)}, ['value'], where);
}

/** @param {Record<string, any>} given @param {string[]} names @param {string} where */
function strings(given, names, where) {
  /** @type {Record<string, string>} */
  const read = {};
  for (const name of names) {
    const value = given[name];
    if (value === undefined || value === null || value === '' && name !== 'value') continue;
    const limit = LIMIT_CHARS[/** @type {keyof typeof LIMIT_CHARS} */ (name)];
    if (typeof value !== 'string') throw new BadArguments(`${where}.${name}: a text`);
    if (value.length > limit) throw new BadArguments(`${where}.${name}: at most ${limit} characters`);
    read[name] = value;
  }
  return read;
}

/** @param {Record<string, any>} given @param {string} name @param {string[]} known @param {string} where */
function oneOf(given, name, known, where) {
  const read = strings(given, [name], where);
  if (read[name] !== undefined && !known.includes(read[name])) throw new BadArguments(`${where}.${name}: one of ${known.join(', ')}`);
  return read;
}
