/** Converts values of any kind to JSON, with descriptions of what JSON cannot represent. */

const NODES = 20_000;
const CHARS = 400_000;
const DEPTH = 50;

/**
 * @param {unknown} value
 * @returns {{value: unknown, isCut: boolean}}  `isCut`: the value was larger than the result
 */
export function describe(value) {
  const budget = {nodes: NODES, chars: CHARS, isCut: false};
  return {value: written(value, budget, []), get isCut() { return budget.isCut; }};
}

/**
 * @param {any} value
 * @param {{nodes: number, chars: number, isCut: boolean}} budget
 * @param {object[]} above  the objects that contain it
 * @returns {unknown}
 */
function written(value, budget, above) {
  budget.nodes -= 1;
  switch (typeof value) {
    case 'string': return text(value, budget);
    case 'boolean': return value;
    case 'number': return Number.isFinite(value) ? value : `[${value}]`;
    case 'bigint': return `[BigInt ${value}]`;
    case 'symbol': return `[${String(value)}]`;
    case 'function': return `[Function ${value.name || 'anonymous'}]`;
    case 'undefined': return null;
  }
  if (value === null) return null;
  if (above.includes(value)) return '[Circular]';
  if (budget.nodes <= 0 || budget.chars <= 0 || above.length >= DEPTH) {
    budget.isCut = true;
    return '[left out]';
  }
  try {
    return object(value, budget, [...above, value]);
  } catch (error) {
    return `[not readable: ${error}]`;
  }
}

/** @param {any} value @param {any} budget @param {object[]} above */
function object(value, budget, above) {
  if (value === window) return '[Window]';
  if (value instanceof Node) return node(value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? '[Invalid Date]' : value.toISOString();
  if (value instanceof Error) return {name: value.name, message: text(value.message, budget), stack: text(value.stack ?? '', budget)};
  if (value instanceof RegExp || value instanceof URL) return String(value);
  if (value instanceof Promise) return '[Promise]';
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.constructor.name}, ${value.byteLength} bytes]`;
  if (value instanceof Map) return {'[Map]': list([...value], budget, above)};
  if (value instanceof Set) return {'[Set]': list([...value], budget, above)};
  if (Array.isArray(value) || value instanceof NodeList || value instanceof HTMLCollection) return list([...value], budget, above);
  if (typeof value.toJSON === 'function') return written(value.toJSON(), budget, above);
  return entries(value, budget, above);
}

/** @param {unknown[]} items @param {any} budget @param {object[]} above */
function list(items, budget, above) {
  const kept = [];
  for (const item of items) {
    if (budget.nodes <= 0 || budget.chars <= 0) {
      budget.isCut = true;
      kept.push(`[${items.length - kept.length} more]`);
      break;
    }
    kept.push(written(item, budget, above));
  }
  return kept;
}

/** @param {any} value @param {any} budget @param {object[]} above */
function entries(value, budget, above) {
  /** @type {Record<string, unknown>} */
  const kept = {};
  for (const key of Object.keys(value)) {
    if (budget.nodes <= 0 || budget.chars <= 0) {
      budget.isCut = true;
      break;
    }
    budget.chars -= key.length;
    // a getter that throws affects only its own value
    let inner;
    try { inner = written(value[key], budget, above); } catch (error) { inner = `[not readable: ${error}]`; }
    Object.defineProperty(kept, key, {value: inner, enumerable: true, configurable: true, writable: true});
  }
  return kept;
}

/** @param {string} value @param {any} budget */
function text(value, budget) {
  const kept = value.slice(0, Math.max(0, budget.chars));
  budget.chars -= kept.length;
  if (kept.length === value.length) return value;
  budget.isCut = true;
  return `${kept}… [${value.length - kept.length} more characters]`;
}

/** @param {Node} value */
function node(value) {
  if (value instanceof Element) {
    const id = value.id ? `#${value.id}` : '';
    const classes = [...value.classList].map((name) => `.${name}`).join('');
    return `[Element <${value.localName}${id}${classes}>]`;
  }
  if (value instanceof Document) return '[Document]';
  if (value instanceof Text) return `[Text ${JSON.stringify((value.data).slice(0, 100))}]`;
  return `[${value.nodeName}]`;
}
