/** The tabs that the user shares with chats, each with one. A share is stored before anything acts on it. */
import {markTab} from './badge.js';
import {Stored} from './stored.js';

/**
 * @typedef {object} Share
 * @property {string} shareId
 * @property {number} tabId
 * @property {string} sessionId
 * @property {string} server  the origin of the server that has the session
 * @property {string} origin  the site that is shared; on other sites the share pauses
 * @property {string} url
 * @property {string} title
 * @property {'starting' | 'ready' | 'paused'} state  `starting`: not confirmed by the server yet
 * @property {string | null} [elsewhere]  the origin that a paused tab has moved to, or its own if the user revoked the permission; null: unknown to the extension
 * @property {string} [resourceId]
 * @property {string} [sessionTitle]
 */

/** @type {Stored<Record<string, Share>>} */
const shares = new Stored('shares', {});
/** The number of running calls in each tab. @type {Map<number, number>} */
const acting = new Map();

/** Return all shares. */
export async function allShares() {
  return Object.values(await shares.read());
}

/** @param {string} shareId @returns {Promise<Share | null>} */
export async function findShare(shareId) {
  return (await shares.read())[shareId] ?? null;
}

/** @param {number} tabId @returns {Promise<Share | null>} */
export async function shareOfTab(tabId) {
  return (await allShares()).find((each) => each.tabId === tabId) ?? null;
}

/** @param {Share} share */
export async function addShare(share) {
  await shares.change((known) => void (known[share.shareId] = share));
  await mark(share.tabId);
}

/** @param {string} shareId @param {Partial<Share>} changed @returns {Promise<Share | null>} null: it has ended */
export async function changeShare(shareId, changed) {
  const share = await shares.change((known) => (known[shareId] ? Object.assign(known[shareId], changed) : null));
  if (share) await mark(share.tabId);
  return share;
}

/** @param {string} shareId @returns {Promise<Share | null>} what was removed; null: it had already ended */
export async function removeShare(shareId) {
  const share = await shares.change((known) => {
    const found = known[shareId] ?? null;
    delete known[shareId];
    return found;
  });
  if (share) await mark(share.tabId);
  return share;
}

/** Count a call that starts (1) or ends (-1) in a tab. @param {number} tabId @param {1 | -1} step */
export async function countActing(tabId, step) {
  const count = (acting.get(tabId) ?? 0) + step;
  if (count) acting.set(tabId, count);
  else acting.delete(tabId);
  await mark(tabId);
}

/** Return true if any call is running. */
export function isActing() {
  return acting.size > 0;
}

/** Show on the extension's icon how a tab is shared. @param {number} tabId */
export async function mark(tabId) {
  const share = await shareOfTab(tabId);
  if (!share) return markTab(tabId, null);
  if (share.state === 'paused') return markTab(tabId, 'paused');
  return markTab(tabId, acting.has(tabId) ? 'acting' : 'shared');
}
