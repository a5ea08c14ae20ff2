/**
 * The calls that panels carry out, written down before anything is done: none is carried out twice, and what had begun when
 * its panel was closed is told to the model as interrupted.
 */
import {change, read} from '../stored.js';
import {livingPanels, panelId} from '../this-panel.js';

/**
 * @typedef {object} Entry
 * @property {string} toolId
 * @property {string} sessionId
 * @property {string} toolName
 * @property {string} panel
 * @property {object | null} result  null: it has begun
 */

const KEY = 'panelCalls';

/** @param {Omit<Entry, 'panel' | 'result'>} call @returns {Promise<boolean>} false: it has begun before, and is not to be carried out */
export function begin(call) {
  return change(KEY, /** @type {Record<string, Entry>} */ ({}), (entries) => {
    if (entries[call.toolId]) return false;
    entries[call.toolId] = {...call, panel: panelId, result: null};
    return true;
  });
}

/** How a call ended, until the server has taken it. @param {string} toolId @param {object} result */
export function finish(toolId, result) {
  return change(KEY, /** @type {Record<string, Entry>} */ ({}), (entries) => {
    if (entries[toolId]) entries[toolId].result = result;
  });
}

/** The server knows its end, or nothing was done. @param {string} toolId */
export function forget(toolId) {
  return change(KEY, /** @type {Record<string, Entry>} */ ({}), (entries) => {
    delete entries[toolId];
  });
}

/** Ended calls whose results the server has not taken, of this panel and of those that are gone. @param {object} interrupted  the result of what had begun there @returns {Promise<Entry[]>} */
export async function unsent(interrupted) {
  const living = await livingPanels();
  await change(KEY, /** @type {Record<string, Entry>} */ ({}), (entries) => {
    for (const entry of Object.values(entries)) {
      if (living.has(entry.panel)) continue;
      entry.panel = panelId;
      entry.result ??= interrupted;
    }
  });
  return Object.values(await read(KEY, /** @type {Record<string, Entry>} */ ({}))).filter(({panel, result}) => panel === panelId && result);
}
