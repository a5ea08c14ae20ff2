/** Completions of a tool argument, which its module provides while the user types. */
import {client} from '../../client/client.js';
import {parseCommand, written} from './slash-commands.js';

const PAUSE_MS = 150;

/** @typedef {import('../../client/tool-list.js').Tool} Tool */

/**
 * Return the value that is typed before the cursor; null if the server does not complete it.
 * @param {string} before @param {readonly Tool[]} tools
 */
function begunIn(before, tools) {
  const [, start = '', argument = '', begun = ''] = /^(\/[\w-]+\s(?:[\s\S]*\s)?)([\w.-]+)=(\S*)$/.exec(before) ?? [];
  const tool = tools.find(({name}) => start.startsWith(`/${name} `));
  const isOpen = (before.match(/"/g) ?? []).length % 2 === 1;
  if (!tool?.completes || isOpen || !Object.hasOwn(tool.input_schema.properties ?? {}, argument)) return null;
  return {tool: tool.name, argument, begun, given: givenIn(start, tools)};
}

/** Return the other arguments that are text. @param {string} text @param {readonly Tool[]} tools @returns {Record<string, string>} */
function givenIn(text, tools) {
  const read = parseCommand(text, tools);
  if ('problem' in read) return {};
  return Object.fromEntries(Object.entries(read.command.args).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])));
}

/**
 * Return completions at the cursor, once the user pauses; null if no request is needed.
 * @param {string} before  the text up to the cursor
 * @param {readonly Tool[]} tools
 * @param {AbortSignal} signal
 * @returns {Promise<import('./slash-commands.js').Completion[]> | null}
 */
export function valuesOf(before, tools, signal) {
  const typed = begunIn(before, tools);
  return typed && asked(typed, before.length - typed.begun.length, signal);
}

/** @param {{tool: string, argument: string, begun: string, given: Record<string, string>}} typed @param {number} from @param {AbortSignal} signal */
async function asked({tool, argument, begun, given}, from, signal) {
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  if (signal.aborted) return [];
  try {
    const {values} = await client.post(`/api/tools/${encodeURIComponent(tool)}/complete`, {argument, value: begun, arguments: given}, {signal});
    return values.filter((/** @type {string} */ value) => value !== begun)
      .map((/** @type {string} */ value) => ({insert: `${written(value)} `, from, label: value, detail: ''}));
  } catch {
    return []; // the user can continue without completions
  }
}
