/** The commands that run in this page. */
import {describe} from './describe.js';
import {readHtml, readText} from './reading.js';
import {apply} from './patching.js';
import {summarise} from './summary.js';
import {one} from './deep-selectors.js';

const AsyncFunction = /** @type {any} */ (async () => {}).constructor;

/** Match the escape of a lone surrogate, but not the text of one after a backslash. */
const HALF = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/;
const HALVES = new RegExp(HALF, 'g');

/** @type {Record<string, (args: any) => Promise<unknown> | unknown>} */
const COMMANDS = {
  eval_js: evaluate,
  get_content: read,
  dom_patch: ({operations}) => ({results: operations.map(apply)}),
};

/** @param {import('./channel.js').Command} command @returns {Promise<import('./channel.js').Outcome>} */
export async function carryOut({type, args}) {
  try {
    if (!Object.hasOwn(COMMANDS, type)) throw new Error(`this page knows no command ${type}; reload it`);
    return whole({ok: true, result: await COMMANDS[type](args)});
  } catch (error) {
    return whole({ok: false, error: failure(error)});
  }
}

/**
 * Return the outcome without lone surrogates, as JSON parsers reject them; in JSON they are escapes, and nothing else is.
 * @template T
 * @param {T} outcome
 * @returns {T}
 */
function whole(outcome) {
  const text = JSON.stringify(outcome);
  return HALF.test(text) ? JSON.parse(text.replaceAll(HALVES, '$1\ufffd')) : outcome;
}

/** @param {{script: string}} args */
async function evaluate({script}) {
  return describe(await compile(script).call(window));
}

/** Compile a script: an expression returns its value; everything else is the body of a function. @param {string} script */
function compile(script) {
  try {
    return new AsyncFunction(`return (${script}\n);`);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return new AsyncFunction(script);
  }
}

/** @param {{selector: string | null, format: string, maxChars: number}} args */
function read({selector, format, maxChars}) {
  const element = selector === null ? document.body : one(selector);
  if (format === 'summary') return summarise(element, maxChars);
  const content = format === 'html' ? readHtml(element) : readText(element);
  return {content: cut(content, maxChars), length: content.length};
}

/** Cut text without splitting a surrogate pair. @param {string} text @param {number} limit */
function cut(text, limit) {
  const isSplit = limit < text.length && /[\uD800-\uDBFF]/.test(text[limit - 1]);
  return text.slice(0, isSplit ? limit - 1 : limit);
}

/** @param {unknown} error */
function failure(error) {
  if (error instanceof Error) return {message: `${error.name}: ${error.message}`.slice(0, 10_000), stack: (error.stack ?? '').slice(0, 10_000)};
  return {message: `it threw ${JSON.stringify(describe(error).value)}`.slice(0, 10_000)};
}
