/**
 * Handles the extension's requests to one frame. The extension runs a function in this script's isolated world: there is
 * no listener that a page or another extension could reach, and none to remove when the extension is updated.
 */
import {check, choose} from './choose.js';
import {click} from './click.js';
import {collect, describedAlike, more, selectedText} from './context.js';
import {fill} from './fill.js';
import {find} from './find.js';
import {elementOf, idOf} from './ids.js';
import {clearMarks, markElement, markSelection, markText} from './marks.js';
import {its, tidy} from './native-properties.js';
import {until, watchLeavings} from './chunked-work.js';
import {cut, read} from './read.js';
import {Refusal, done} from './reply.js';
import {scroll} from './scroll.js';

/**
 * @typedef {import('./find.js').Target} Target
 * @typedef {{kinds: string[], label: string, place: string}} Words
 * @typedef {{action: string, params: {value?: string, color?: string, direction?: string}}} Act
 */

const KEY = Symbol.for('agentcore.page');
/** The time limit for a document to load. */
const READY_MS = 5000;
/** The maximum number of elements named in a reply. */
const ALIKE = 10;

/** @type {Record<string, (request: any) => unknown>} */
const ANSWERS = {
  context: ({reader, isFrame}) => collect(reader, isFrame),
  more: ({reader, wanted}) => more(reader, wanted),
  selectedText: () => ({text: selectedText()}),
  clearMarks: () => ({count: clearMarks()}),
  /** @param {{target: Target, words: Words}} request */
  find: async ({target, words}) => {
    const {element, fit, invalid, alike, stale} = await find(target, words);
    const shown = alike.length > 1 ? describedAlike(alike.slice(0, ALIKE)) : [];
    return {fit, invalid, stale, count: alike.length, alike: shown, id: element && idOf(element)};
  },
  /** @param {{id: string}} request */
  describe: ({id}) => {
    const element = elementOf(id);
    return element ? describedAlike([element]) : [];
  },
  /** @param {{act: Act, id: string | null, allowed?: string, text?: string}} request */
  act: ({act, id, allowed, text}) => answered(() => carryOut(act, id, allowed, text)),
};

/** @param {() => Promise<import('./reply.js').Reply> | import('./reply.js').Reply} work */
async function answered(work) {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refusal) return error.reply;
    throw error;
  }
}

/**
 * Perform an action on the element found before.
 * @param {Act} act @param {string | null} id  null: the selection, or the whole page
 * @param {string} [allowed]  the kind of secret that the user has allowed to fill
 * @param {string} [text]  the text to mark if no element was found
 */
async function carryOut({action, params}, id, allowed, text) {
  const element = id ? elementOf(id) : null;
  if (id && !element) throw new Refusal('notFound');
  const value = params.value ?? '';
  if (action === 'highlight' || action === 'underline') return mark(action, element, params, text);
  if (action === 'scroll') return scroll(element, params.direction);
  if (action === 'read' && !element) return done('read', {text: cut(selectedText())});
  if (!element) throw new Refusal('notFound');
  switch (action) {
    case 'fill': return fill(element, value, allowed);
    case 'click': return click(element);
    case 'select': return choose(element, value, allowed);
    case 'check': return check(element, value);
    default: return read(element);
  }
}

/** @param {'highlight' | 'underline'} kind @param {Element | null} element @param {Act['params']} params @param {string} [text] */
async function mark(kind, element, {value, color}, text) {
  const wanted = value || text;
  const marked = wanted ? await markText(kind, wanted, element, color) : null;
  if (marked) return marked;
  if (wanted) throw new Refusal('noText', {text: tidy(wanted, 60)});
  const reply = element ? markElement(kind, element, color) : markSelection(kind, color);
  if (!reply) throw new Refusal('noSelection');
  return reply;
}

const world = /** @type {any} */ (globalThis);
if (!world[KEY]?.isAlive()) {
  // end the script from before an update: its marks would stay forever
  world[KEY]?.end();
  const {runtime} = chrome;
  watchLeavings();
  world[KEY] = {
    isAlive: () => runtime?.id !== undefined,
    end: clearMarks,
    /** @param {{type: string}} request */
    answer: async (request) => {
      try {
        await until(() => its(document).readyState !== 'loading', READY_MS);
        return {value: await ANSWERS[request.type](request)};
      } catch (error) {
        // the browser does not pass errors on
        return {error: String(error instanceof Error ? error.stack : error)};
      }
    },
  };
}
