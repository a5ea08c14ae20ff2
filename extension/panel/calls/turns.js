/** For which tab each chat was told of a page, and from which panel: a call of the chat is carried out there and nowhere else. */
import {change, onStored, read} from '../stored.js';
import {livingPanels, panelId} from '../this-panel.js';

/**
 * @typedef {object} Turn
 * @property {string} panel  the one that the message was sent from
 * @property {number} tabId  of the page that went with the last message
 * @property {string} host
 * @property {Record<string, {tabId: number, desc: string}>} elements  by their ids; those of earlier messages too, for one may wait for its turn
 */

const KEY = 'panelTurns';
const KEPT_TURNS = 50;
const KEPT_ELEMENTS = 400;

/** @param {string} sessionId @param {{tabId: number, host: string, elements: {id: string, desc: string}[]}} page */
export function noteTurn(sessionId, {tabId, host, elements}) {
  return change(KEY, /** @type {Record<string, Turn>} */ ({}), (turns) => {
    const known = turns[sessionId]?.elements ?? {};
    delete turns[sessionId]; // the last one stands at the end
    turns[sessionId] = {panel: panelId, tabId, host, elements: withElements(known, tabId, elements)};
    for (const old of Object.keys(turns).slice(0, -KEPT_TURNS)) delete turns[old];
  });
}

/** Elements that a call has found. @param {string} sessionId @param {number} tabId @param {{id: string, desc: string}[]} elements */
export function noteElements(sessionId, tabId, elements) {
  return change(KEY, /** @type {Record<string, Turn>} */ ({}), (turns) => {
    const turn = turns[sessionId];
    if (turn) turn.elements = withElements(turn.elements, tabId, elements);
  });
}

/** @param {string} sessionId @returns {Promise<Turn | null>} null: the browser has been started anew since, or it was not begun here */
export async function turnOf(sessionId) {
  return (await allTurns())[sessionId] ?? null;
}

/** Those of all chats, by their ids. */
export function allTurns() {
  return read(KEY, /** @type {Record<string, Turn>} */ ({}));
}

/** Whether this panel carries out the calls of a turn: it has begun it, or the panel that has is gone. @param {Turn} turn */
export async function isOurs({panel}) {
  return panel === panelId || !(await livingPanels()).has(panel);
}

/** @param {() => void} handler @returns {() => void} the way to end it */
export const onTurns = (handler) => onStored([KEY], handler);

/** @param {Turn['elements']} known @param {number} tabId @param {{id: string, desc: string}[]} elements */
function withElements(known, tabId, elements) {
  const all = [...Object.entries(known), ...elements.map(({id, desc}) => /** @type {const} */ ([id, {tabId, desc}]))];
  return Object.fromEntries(all.slice(-KEPT_ELEMENTS));
}
