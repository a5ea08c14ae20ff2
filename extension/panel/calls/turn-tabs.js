/** Records the tab and panel from which each chat's page was sent: the chat's calls run there and nowhere else. */
import {change, onStored, read} from '../stored.js';
import {livingPanels, panelId} from '../this-panel.js';

/**
 * @typedef {object} Turn
 * @property {string} panel  the panel that sent the message
 * @property {number} tabId  the tab of the page sent with the last message
 * @property {string} host
 * @property {Record<string, {tabId: number, desc: string}>} elements  by id; includes those of earlier messages, whose calls may still be pending
 */

const KEY = 'panelTurns';
const KEPT_TURNS = 50;
const KEPT_ELEMENTS = 400;

/** @param {string} sessionId @param {{tabId: number, host: string, elements: {id: string, desc: string}[]}} page */
export function noteTurn(sessionId, {tabId, host, elements}) {
  return change(KEY, /** @type {Record<string, Turn>} */ ({}), (turns) => {
    const known = turns[sessionId]?.elements ?? {};
    delete turns[sessionId]; // the newest entry goes last
    turns[sessionId] = {panel: panelId, tabId, host, elements: withElements(known, tabId, elements)};
    for (const old of Object.keys(turns).slice(0, -KEPT_TURNS)) delete turns[old];
  });
}

/** Record elements found by a call. @param {string} sessionId @param {number} tabId @param {{id: string, desc: string}[]} elements */
export function noteElements(sessionId, tabId, elements) {
  return change(KEY, /** @type {Record<string, Turn>} */ ({}), (turns) => {
    const turn = turns[sessionId];
    if (turn) turn.elements = withElements(turn.elements, tabId, elements);
  });
}

/** @param {string} sessionId @returns {Promise<Turn | null>} null: the browser has restarted since, or the turn did not start here */
export async function turnOf(sessionId) {
  return (await allTurns())[sessionId] ?? null;
}

/** Return the turns of all chats, by session id. */
export function allTurns() {
  return read(KEY, /** @type {Record<string, Turn>} */ ({}));
}

/** Return true if this panel runs the calls of a turn: it started the turn, or the panel that did is closed. @param {Turn} turn */
export async function isOurs({panel}) {
  return panel === panelId || !(await livingPanels()).has(panel);
}

/** @param {() => void} handler @returns {() => void} the unsubscribe function */
export const onTurns = (handler) => onStored([KEY], handler);

/** @param {Turn['elements']} known @param {number} tabId @param {{id: string, desc: string}[]} elements */
function withElements(known, tabId, elements) {
  const all = [...Object.entries(known), ...elements.map(({id, desc}) => /** @type {const} */ ([id, {tabId, desc}]))];
  return Object.fromEntries(all.slice(-KEPT_ELEMENTS));
}
