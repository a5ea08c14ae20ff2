/** The panel's interface to the worker. State is read from storage directly, which does not wake the worker. */
import {isOwnDocument} from './messages.js';
import {PANEL_IN} from './questions.js';
import {siteOf} from './sites.js';

/**
 * @typedef {import('./shares.js').Share} Share
 * @typedef {import('./sharing.js').EndedShare} EndedShare
 * @typedef {import('./questions.js').Question} Question
 * @typedef {import('./menus.js').Pending} Pending
 * @typedef {import('./connection.js').ConnectionState} ConnectionState
 */

/** Thrown when the worker refuses a request: `not_paired`, `page_forbidden`, `permission_needed` (`origin`: what to ask for), `page_gone`, or an error of the server. */
export class WorkerError extends Error {
  /** @param {{type: string, message: string, origin?: string | null}} error */
  constructor({type, message, origin}) {
    super(message);
    this.name = 'WorkerError';
    this.type = type;
    this.origin = origin;
  }
}

/** Return all shared tabs. @returns {Promise<Share[]>} */
export async function listShares() {
  return Object.values(await stored('shares', {}));
}

/** Return the state of the connection that shared tabs use. @returns {Promise<ConnectionState>} */
export function connectionState() {
  return stored('connection', 'off');
}

/** Return the shares that ended last, newest first, for notifying the user. @returns {Promise<EndedShare[]>} */
export function endedShares() {
  return stored('endedShares', []);
}

/**
 * Ask the user to allow the site of a URL. Works only during a click, before anything is awaited.
 * @param {string} url @returns {Promise<boolean>}  false also if there is nothing to allow
 */
export async function requestSite(url) {
  const site = siteOf(url);
  return site !== null && chrome.permissions.request({origins: [site.pattern]});
}

/**
 * Share a tab with a session; its site must have been allowed.
 * @param {number} tabId @param {string} sessionId @param {string} [sessionTitle]  the chat's title, for display @returns {Promise<Share>} @throws {WorkerError}
 */
export function share(tabId, sessionId, sessionTitle) {
  return ask({type: 'share', tabId, sessionId, sessionTitle});
}

/** @param {string} shareId @returns {Promise<void>} */
export function endShare(shareId) {
  return ask({type: 'endShare', shareId});
}

/** Resume a paused share at the tab's current site, which must have been allowed. @param {string} shareId @returns {Promise<Share>} @throws {WorkerError} */
export function resumeShare(shareId) {
  return ask({type: 'resumeShare', shareId});
}

/** Call `handler` when shares, their connection or ended shares change. @param {() => void} handler @returns {() => void} the unsubscribe function */
export function onChanged(handler) {
  return onStored(['shares', 'connection', 'endedShares'], handler);
}

/** Return the questions to show in a panel, oldest first. @returns {Promise<Question[]>} */
export async function panelQuestions() {
  return (await stored('questions', /** @type {Question[]} */ ([]))).filter(({where}) => where === 'panel');
}

/** Return a question for the window that was opened for it; null if it is settled. @param {string} id @returns {Promise<Question | null>} */
export async function findQuestion(id) {
  return (await stored('questions', /** @type {Question[]} */ ([]))).find((each) => each.id === id) ?? null;
}

/** Answer a question after the user has clicked. @param {string} id @param {boolean} isAllowed @returns {Promise<void>} */
export function answerQuestion(id, isAllowed) {
  return ask({type: 'answerQuestion', id, isAllowed});
}

/**
 * Show questions in this document, which from now on is its window's panel; `handler` is called when they change.
 * @param {() => void} handler @returns {() => void} the unsubscribe function
 */
export function onQuestions(handler) {
  /** @type {number | undefined} */
  let own;
  void chrome.windows.getCurrent().then(({id}) => { own = id; });
  /** @param {any} request @param {chrome.runtime.MessageSender} sender @param {(isHere: boolean) => void} reply */
  const present = (request, sender, reply) => {
    if (request?.type === PANEL_IN && isOwnDocument(sender) && request.windowId === own) reply(true);
    return false;
  };
  chrome.runtime.onMessage.addListener(present);
  const end = onStored(['questions'], handler);
  return () => {
    chrome.runtime.onMessage.removeListener(present);
    end();
  };
}

/** Take the content sent from the context menu in a window; it can be taken once. @param {number | undefined} windowId @returns {Promise<Pending | null>} */
export function takePending(windowId) {
  return navigator.locks.request('pending', async () => {
    const pending = await stored('pending', /** @type {Pending | null} */ (null));
    if (pending?.windowId !== windowId) return null;
    if (pending) await chrome.storage.session.remove('pending');
    return pending;
  });
}

/** Call `handler` when content was sent from the context menu. @param {() => void} handler @returns {() => void} the unsubscribe function */
export function onPending(handler) {
  return onStored(['pending'], handler);
}

/**
 * Call `handler` when the user clicks the extension's icon or uses its shortcut: from then on the active page may be read,
 * until the tab leaves its site.
 * @param {() => void} handler @returns {() => void} the unsubscribe function
 */
export function onTabAllowed(handler) {
  return onStored(['allowedTab'], handler);
}

/** @template T @param {string} key @param {T} empty @returns {Promise<T>} */
async function stored(key, empty) {
  const found = await chrome.storage.session.get({[key]: empty});
  return /** @type {T} */ (found[key]);
}

/** @param {string[]} keys @param {() => void} handler @returns {() => void} */
function onStored(keys, handler) {
  /** @param {Record<string, chrome.storage.StorageChange>} changes @param {string} area */
  const listen = (changes, area) => {
    if (area === 'session' && keys.some((key) => key in changes)) handler();
  };
  chrome.storage.onChanged.addListener(listen);
  return () => chrome.storage.onChanged.removeListener(listen);
}

/** @param {{type: string} & Record<string, unknown>} request @returns {Promise<any>} @throws {WorkerError} */
async function ask(request) {
  const reply = /** @type {import('./messages.js').Reply | undefined} */ (await chrome.runtime.sendMessage(request));
  if (reply?.ok) return reply.value;
  throw new WorkerError(reply?.error ?? {type: 'internal_error', message: 'The extension did not answer.'});
}
