/** The page of one tab, for the worker and the panel: its context, and the page tools. Only for extension contexts. */
import {Actions} from './actions.js';
import {BadArguments, readActions, readWanted} from './arguments.js';
import {describe} from './descriptions.js';
import {askAll, framesOf} from './frames.js';
import {languageOf, text} from './strings.js';

export {PageError} from './page-error.js';
export {PAGE_TOOLS, pageTools} from './tools.js';

/**
 * @typedef {import('./descriptions.js').Described} Described
 * @typedef {import('./strings.js').Language} Language
 * @typedef {{id: string, desc: string}} Element
 * @typedef {object} Options
 * @property {string} [locale]  of the texts
 * @property {string} [reader]  the chat whose model reads: `request_more_elements` returns elements not yet sent to it
 * @property {AbortSignal} [signal]  cancels a call between two actions
 * @property {(question: {kind: 'password' | 'oneTimeCode' | 'payment', label: string, origin: string}) => Promise<boolean>} [confirm]
 *   called before a secret field is filled; without it, none is filled
 */

const LIMIT = 30;

/**
 * Return the context of a tab's page for a model.
 * @param {number} tabId @param {{locale?: string, reader?: string}} [options]
 * @returns {Promise<{url: string, title: string, elements: Element[], selectedText?: string}>}  at most 30 elements
 * @throws {import('./page-error.js').PageError}
 */
export async function collectContext(tabId, {locale, reader = ''} = {}) {
  const language = languageOf(locale);
  const frames = await framesOf(tabId, language);
  const answers = await askAll(frames, ({frameId}) => ({type: 'context', reader, isFrame: frameId !== 0}), language);
  const {url, title} = answers[0].answer;
  const selectedText = answers.map(({answer}) => answer.selectedText).find(Boolean);
  const elements = merge(answers.map(({answer}) => answer.elements), language);
  return {url, title, elements, ...(selectedText ? {selectedText} : {})};
}

/**
 * Run one of the page tools.
 * @param {number} tabId @param {string} tool @param {any} args  as passed by the model @param {Options} [options]
 * @returns {Promise<any>}  `{success, results, summary}`, `{success, elements}`, `{success, text}`, `{success, message}`, or
 *   `{success: false, error}` if the arguments are invalid
 * @throws {import('./page-error.js').PageError}
 */
export async function runPageTool(tabId, tool, args, {locale, reader = '', signal, confirm = async () => false} = {}) {
  const language = languageOf(locale);
  if (!Object.hasOwn(TOOLS, tool)) return {success: false, error: text(language, 'noTool', {tool})};
  try {
    return await TOOLS[tool](tabId, args, language, {reader, signal, confirm});
  } catch (error) {
    if (error instanceof BadArguments) return {success: false, error: text(language, 'badArguments', {problem: error.message})};
    throw error;
  }
}

/** @type {Record<string, (tabId: number, args: any, language: Language, options: any) => Promise<any>>} */
const TOOLS = {
  page_action: (tabId, args, language, {signal, confirm}) => new Actions(tabId, language, confirm, signal).run(readActions(args)),
  request_more_elements: async (tabId, args, language, {reader}) => {
    const wanted = readWanted(args);
    const answers = await askAll(await framesOf(tabId, language), () => ({type: 'more', reader, wanted}), language);
    return {success: true, elements: merge(answers.map(({answer}) => answer), language)};
  },
  get_selected_text: async (tabId, _, language) => {
    const answers = await askAll(await framesOf(tabId, language), () => ({type: 'selectedText'}), language);
    return {success: true, text: answers.map(({answer}) => answer.text).find(Boolean) ?? ''};
  },
  clear_ai_styles: async (tabId, _, language) => {
    const answers = await askAll(await framesOf(tabId, language), () => ({type: 'clearMarks'}), language);
    const count = answers.reduce((sum, {answer}) => sum + answer.count, 0);
    return {success: true, message: text(language, 'cleared', {count})};
  },
};

/** Return the most useful elements of all frames, grouped by frame. @param {Described[][]} frames @param {Language} language @returns {Element[]} */
function merge(frames, language) {
  const all = frames.flat();
  const best = new Set([...all].sort((a, b) => b.use - a.use).slice(0, LIMIT));
  return all.filter((element) => best.has(element)).map((element) => describe(element, language));
}
