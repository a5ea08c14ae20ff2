/** Starts, pauses and ends the sharing of tabs: on behalf of the user in the panel, the tab itself, and the server. */
import {browserName} from './browser-name.js';
import {PageError} from '../tab/tab-page.js';
import {cancel, cancelShare, take} from './calls.js';
import {Connection} from './connection.js';
import {outcomes} from './journal.js';
import {forgetPicture, keepPicture} from './screenshots.js';
import {instance, usedServer} from './servers.js';
import {addShare, allShares, changeShare, findShare, mark, removeShare, shareOfTab} from './shares.js';
import {siteOf} from './sites.js';
import {Stored} from './stored.js';
import {listenToTabs} from './tab-events.js';

/**
 * @typedef {import('./shares.js').Share} Share
 * @typedef {import('./connection.js').Message} Message
 * @typedef {object} EndedShare
 * @property {string} shareId
 * @property {number} tabId
 * @property {string} title
 * @property {string} reason  `person`, `closed`, `unpaired`, `other_server`, `moved`, `refused`, or the server's reason
 * @property {string} [message]  of the server, if it refused
 * @property {number} at  milliseconds since 1970
 */

/** The time that sharing a tab waits for the server's confirmation. */
const CONFIRM_MS = 10_000;
const ALARM = 'shares';
/** The shortest period that the browser allows, half a minute; browsers with a minimum of one minute use that. */
const ALARM_MINUTES = 0.5;
const ENDED_KEPT = 5;
const ICON_CHARS = 128 * 1024;
const ICON = /^data:image\/(png|jpeg|webp|gif|x-icon);base64,/;
const URL_CHARS = 8192;
const TITLE_CHARS = 1000;

/** An error that the panel shows. @typedef {{type: string, message: string, origin?: string | null}} ShareError */

/** For the panel, which notifies the user. @type {Stored<EndedShare[]>} */
const endedShares = new Stored('endedShares', []);
/** Callbacks for the server's answer to a share. @type {Map<string, (error: ShareError | null) => void>} */
const unconfirmed = new Map();

/** The shares in the last hello. @type {Set<string>} */
let greeted = new Set();

const connection = new Connection({
  hello,
  onMessage: (message) => void receive(message),
  onUnavailable: () => void endUnconfirmed(),
});

/** Resume what was shared before the worker ended, or stay idle. */
export async function resumeSharing() {
  for (const {tabId} of await allShares()) await follow(tabId);
  await connectAsNeeded();
}

/** Connect while anything is shared; otherwise remove all listeners, timers and alarms. */
export function connectAsNeeded() {
  // one at a time, each with the state stored at that moment: overlapping runs could stop what the other has started
  settled = settled.then(settle).catch((error) => console.error(error));
  return settled;
}

/** @type {Promise<void>} */
let settled = Promise.resolve();

async function settle() {
  const [server, all] = await Promise.all([usedServer(), allShares()]);
  const lost = all.filter((share) => share.server !== server?.origin || server.key === null);
  for (const share of lost) await drop(share.shareId, server && share.server !== server.origin ? 'other_server' : 'unpaired');
  const isSharing = all.length > lost.length;
  listenToTabs(isSharing);
  if (isSharing && server) {
    connection.start(server);
    await chrome.alarms.create(ALARM, {periodInMinutes: ALARM_MINUTES});
  } else {
    connection.stop();
    await chrome.alarms.clear(ALARM);
  }
}

/** Try to reach the server at once. */
export function retryConnection() {
  connection.retry();
}

/**
 * Share a tab with a session of the server in use. The user has clicked to share it, and allowed the site.
 * @param {number} tabId @param {string} sessionId @param {string} [sessionTitle]
 * @returns {Promise<Share>}
 * @throws {ShareError} `not_paired`, `page_forbidden`, `permission_needed`, `not_offered`, or an error of the server
 */
export function shareTab(tabId, sessionId, sessionTitle) {
  const done = begun.then(() => beginShare(tabId, sessionId, sessionTitle));
  begun = done.catch(() => {}); // a second click waits for the first, and finds its result
  return done;
}

/** @type {Promise<unknown>} */
let begun = Promise.resolve();

/** @param {number} tabId @param {string} sessionId @param {string} [sessionTitle] @returns {Promise<Share>} */
async function beginShare(tabId, sessionId, sessionTitle) {
  const server = await usedServer();
  if (!server?.key) throw failure('not_paired', 'No server is paired.');
  const {url, title = '', site} = await allowedTab(tabId);
  const before = await shareOfTab(tabId);
  if (before?.sessionId === sessionId && before.state !== 'paused') return before;
  if (before) await endShare(before.shareId, 'moved');
  const shareId = crypto.randomUUID();
  await addShare({shareId, tabId, sessionId, sessionTitle, server: server.origin, origin: site.origin, url, title, state: 'starting'});
  const confirmed = confirmation(shareId);
  await connectAsNeeded();
  const added = await findShare(shareId);
  if (added) connection.send({type: 'share', ...offer(added)});
  const error = await confirmed;
  const share = await findShare(shareId);
  if (error || !share) throw error ?? failure('page_gone', 'The tab was closed.');
  return share;
}

/** Resume a paused share at the tab's current site. @param {string} shareId @returns {Promise<Share>} @throws {ShareError} as `shareTab` */
export async function resumeShare(shareId) {
  const share = await findShare(shareId);
  if (!share) throw failure('page_gone', 'The tab is not shared any more.');
  const {url, title = '', site} = await allowedTab(share.tabId);
  await carryOn(share, {origin: site.origin, url, title});
  return (await findShare(shareId)) ?? share;
}

/** End a share, for any reason. @param {string} shareId @param {string} reason @param {string} [message] */
export async function endShare(shareId, reason, message) {
  await drop(shareId, reason, message);
  await connectAsNeeded();
}

/** @param {string} shareId @param {string} reason @param {string} [message] */
async function drop(shareId, reason, message) {
  const share = await removeShare(shareId);
  if (!share) return;
  const {tabId, title} = share;
  forgetPicture(shareId);
  cancelShare(shareId, new PageError('page_gone', 'The tab is not shared any more.'));
  connection.send({type: 'unshare', shareId});
  unconfirmed.get(shareId)?.(failure('page_gone', message ?? 'The tab is not shared any more.'));
  await endedShares.change((known) => {
    known.unshift({shareId, tabId, title, reason, ...(message ? {message} : {}), at: Date.now()});
    known.splice(ENDED_KEPT);
  });
}

/** Check a tab that may have navigated, changed its title, or been closed. @param {number} tabId */
export function follow(tabId) {
  // one check at a time, each of the tab as it is at that moment: events arrive faster than they are handled
  followed = followed.then(() => look(tabId)).catch((error) => console.error(error));
  return followed;
}

/** @type {Promise<void>} */
let followed = Promise.resolve();

/** @param {number} tabId */
async function look(tabId) {
  const share = await shareOfTab(tabId);
  if (!share) return;
  const tab = await chrome.tabs.get(tabId).catch(() => null);
  if (!tab) return endShare(share.shareId, 'closed');
  const [site, shared] = [siteOf(tab.url), siteOf(share.origin)];
  if (site && site.origin !== share.origin) return pause(share, site.origin);
  // without the permission the browser does not report the tab's URL either
  if (!(await chrome.permissions.contains({origins: [String(shared?.pattern)]}))) return pause(share, share.origin);
  if (!site) return pause(share, null);
  const {url = '', title = ''} = tab;
  if (share.state === 'paused') return carryOn(share, {origin: share.origin, url, title});
  await mark(tabId);
  if (share.url === url && share.title === title) return;
  await changeShare(share.shareId, {url, title});
  connection.send({type: 'update', shareId: share.shareId, ...shown(url, title)});
}

/** Update a share whose tab was given another id by the browser. @param {number} added @param {number} removed */
export async function renumber(added, removed) {
  const share = await shareOfTab(removed);
  if (share) await changeShare(share.shareId, {tabId: added});
}

/** Check all shared tabs after the user has revoked permissions. */
export async function checkPermissions() {
  for (const {tabId} of await allShares()) await follow(tabId);
}

/** @param {Share} share @param {string | null} elsewhere */
async function pause(share, elsewhere) {
  const isNew = share.state !== 'paused';
  await changeShare(share.shareId, {state: 'paused', elsewhere});
  if (!isNew) return;
  forgetPicture(share.shareId);
  cancelShare(share.shareId, new PageError('interrupted', 'The tab left the site that was shared. The person can share the new one in the panel.'));
  connection.send({type: 'update', shareId: share.shareId, state: 'paused'});
}

/** @param {Share} share @param {{origin: string, url: string, title: string}} where */
async function carryOn(share, {origin, url, title}) {
  await changeShare(share.shareId, {state: share.resourceId ? 'ready' : 'starting', elsewhere: null, origin, url, title});
  connection.send({type: 'update', shareId: share.shareId, ...shown(url, title), state: 'ready'});
}

/** Return a share as sent to the server. @param {Share} share */
function offer({shareId, sessionId, resourceId, url, title, state}) {
  return {shareId, sessionId, ...(resourceId ? {resourceId} : {}), ...shown(url, title), state: state === 'paused' ? 'paused' : 'ready'};
}

/** Return a URL and a title within the server's limits. @param {string} url @param {string} title */
function shown(url, title) {
  return {url: url.length > URL_CHARS ? siteOf(url)?.origin ?? '' : url, title: title.slice(0, TITLE_CHARS)};
}

/** @param {import('./servers.js').Server} server @returns {Promise<Message>} */
async function hello(server) {
  const shares = (await allShares()).filter((share) => share.server === server.origin);
  const {version} = chrome.runtime.getManifest();
  greeted = new Set(shares.map(({shareId}) => shareId));
  return {
    type: 'hello', version: 1, instance: await instance(), browser: browserName(), extensionVersion: version,
    locale: chrome.i18n.getUILanguage().startsWith('zh') ? 'zh' : 'en',
    shares: shares.map(offer),
    results: await outcomes(greeted),
  };
}

/** @param {Message} message  from the server */
async function receive(message) {
  if (message.type === 'welcome') await tellSinceHello();
  else if (message.type === 'call') {
    await take(/** @type {any} */ (message), (callId, outcome) => void connection.send({type: 'result', callId, ...outcome}));
  } else if (message.type === 'cancel') cancel(message.callId);
  else if (message.type === 'shared') await confirm(message);
  else if (message.type === 'refused' && message.shareId) await endRefused(message.shareId, message.error);
  else if (message.type === 'ended') await endShare(message.shareId, message.reason);
}

/** Send what has changed since the hello was created. */
async function tellSinceHello() {
  const gone = new Set(greeted);
  for (const share of await allShares()) {
    if (!gone.delete(share.shareId)) connection.send({type: 'share', ...offer(share)});
  }
  for (const shareId of gone) connection.send({type: 'unshare', shareId});
}

/** @param {Message} message */
async function confirm({shareId, resourceId}) {
  const share = await findShare(shareId);
  if (!share) return void connection.send({type: 'unshare', shareId}); // it ended while the server was confirming it
  await changeShare(shareId, {resourceId, ...(share.state === 'starting' ? {state: 'ready'} : {})});
  unconfirmed.get(shareId)?.(null);
  void keepPicture(share);
  const icon = iconOf(await chrome.tabs.get(share.tabId));
  if (icon) connection.send({type: 'update', shareId, icon});
}

/** End all unconfirmed shares, as the server offers no shared tabs. */
async function endUnconfirmed() {
  const error = failure('not_offered', 'The server offers no shared tabs: its module user_tabs is off, or this browser may not share tabs with it.');
  for (const shareId of [...unconfirmed.keys()]) await endRefused(shareId, error);
}

/** @param {string} shareId @param {ShareError} error */
async function endRefused(shareId, error) {
  unconfirmed.get(shareId)?.(error);
  await endShare(shareId, 'refused', error.message);
}

/** Wait for the server's answer to a share, up to a time limit. @param {string} shareId @returns {Promise<ShareError | null>} */
function confirmation(shareId) {
  return new Promise((resolve) => {
    const done = (/** @type {ShareError | null} */ error) => {
      clearTimeout(late);
      unconfirmed.delete(shareId);
      resolve(error);
    };
    const late = setTimeout(() => done(null), CONFIRM_MS);
    unconfirmed.set(shareId, done);
  });
}

/** Return a tab whose site the user has allowed. @param {number} tabId */
async function allowedTab(tabId) {
  const tab = await chrome.tabs.get(tabId).catch(() => null);
  if (!tab) throw failure('page_gone', 'The tab was closed.');
  const site = siteOf(tab.url);
  if (!site || !tab.url) {
    // without the user's permission the browser does not even report the URL
    throw tab.url ? failure('page_forbidden', 'The browser lets no extension into this page.') : failure('permission_needed', 'The site is not allowed.', null);
  }
  if (!(await chrome.permissions.contains({origins: [site.pattern]}))) throw failure('permission_needed', 'The site is not allowed.', site.origin);
  return {url: tab.url, title: tab.title, site};
}

/** Return the icon of a page if it is embedded in the URL itself, so that nothing is fetched. @param {chrome.tabs.Tab} tab */
function iconOf({favIconUrl = ''}) {
  return ICON.test(favIconUrl) && favIconUrl.length <= ICON_CHARS ? favIconUrl : null;
}

/** @param {string} type @param {string} message @param {string | null} [origin] @returns {ShareError} */
function failure(type, message, origin) {
  return {type, message, ...(origin === undefined ? {} : {origin})};
}
