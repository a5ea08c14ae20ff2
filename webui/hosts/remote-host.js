/** Hosts on other machines: their data, the possible actions, and safe display of what they report. */
import {client} from '../client/client.js';
import {visibleText} from '../approval/guard/visible-text.js';

/** @typedef {{name: string, title: string, state: string, isListed: boolean, reason: string, tools: number, waiting: number, problems: string[]}} RemoteModule  `reason`: why it does not run; `waiting`: tools that the user has not seen yet */
/** @typedef {'waiting' | 'running' | 'away' | 'draining' | 'drained' | 'disconnected'} RemoteState  `waiting`: it was never added */
/**
 * @typedef {object} RemoteHost
 * @property {string} name
 * @property {'remote' | 'member'} kind
 * @property {RemoteState} state
 * @property {string} reason
 * @property {number} since
 * @property {string} address  where it dialled in from
 * @property {string} platform
 * @property {string} version
 * @property {number | null} pairedAt
 * @property {boolean} mayUseChats  the user allowed it to use chats
 * @property {number | null} lastSeen
 * @property {number | null} latencyMs
 * @property {string[]} workspace
 * @property {number} callsInFlight
 * @property {{type: string, count: number}[]} resources
 * @property {RemoteModule[]} modules
 */
/** @typedef {'drain' | 'undrain' | 'disconnect' | 'connect' | 'forget'} Action */

/** Actions that have an effect in each state. @type {Record<RemoteState, Action[]>} */
const OFFERED = {
  waiting: [],
  running: ['drain', 'disconnect', 'forget'],
  away: ['disconnect', 'forget'],
  draining: ['undrain', 'disconnect', 'forget'],
  drained: ['undrain', 'disconnect', 'forget'],
  disconnected: ['connect', 'forget'],
};
const UP = new Set(['running', 'draining', 'drained']);
const SHOWN_CHARACTERS = 200;

/** @param {RemoteHost} host @returns {Action[]} */
export const actionsFor = ({state}) => OFFERED[state] ?? [];

/** Return true if a host is connected. @param {RemoteHost} host */
export const isUp = ({state}) => UP.has(state);

/** Return the number of resources that are open in a host. @param {RemoteHost} host */
export const heldBy = ({resources}) => resources.reduce((sum, {count}) => sum + count, 0);

/** Return a text reported by a host, which may be anything: one line, limited in length, with invisible characters written out. @param {string} text @param {number} [most] */
export function saidByHost(text, most = SHOWN_CHARACTERS) {
  const [line, ...rest] = text.trim().split('\n');
  const characters = [...line];
  const isCut = rest.length > 0 || characters.length > most;
  return visibleText(characters.slice(0, most).join('')) + (isCut ? '…' : '');
}

/** @param {RemoteHost} host @param {Action} action */
export function act({name}, action) {
  const path = `/api/hosts/${encodeURIComponent(name)}`;
  if (action === 'forget') return client.del(path);
  if (action === 'drain' || action === 'undrain') return client.post(`${path}/drain`, {on: action === 'drain'});
  return client.post(`${path}/${action}`);
}
