/**
 * Records page tool calls before they run: no call runs twice, and a call that was running when its panel was closed is
 * reported to the model as interrupted.
 */
import {change, read} from '../stored.js';
import {livingPanels, panelId} from '../this-panel.js';

/**
 * @typedef {object} Entry
 * @property {string} toolId
 * @property {string} sessionId
 * @property {string} toolName
 * @property {string} panel
 * @property {object | null} result  null until the call has ended
 */

const KEY = 'panelCalls';

/** @param {Omit<Entry, 'panel' | 'result'>} call @returns {Promise<boolean>} false: it was started before and must not run again */
export function begin(call) {
  return change(KEY, /** @type {Record<string, Entry>} */ ({}), (entries) => {
    if (entries[call.toolId]) return false;
    entries[call.toolId] = {...call, panel: panelId, result: null};
    return true;
  });
}

/** Store the result of a call until the server has accepted it. @param {string} toolId @param {object} result */
export function finish(toolId, result) {
  return change(KEY, /** @type {Record<string, Entry>} */ ({}), (entries) => {
    if (entries[toolId]) entries[toolId].result = result;
  });
}

/** Delete a call whose result the server has, or that did nothing. @param {string} toolId */
export function forget(toolId) {
  return change(KEY, /** @type {Record<string, Entry>} */ ({}), (entries) => {
    delete entries[toolId];
  });
}

/** Return ended calls whose results the server has not accepted, of this panel and of closed ones. @param {object} interrupted  the result for calls cut off there @returns {Promise<Entry[]>} */
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
