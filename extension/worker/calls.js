/** Runs the server's calls in shared tabs; the calls of one tab run in order. */
import {PageError, runPageTool} from '../tab/tab-page.js';
import {begin, finish} from './journal.js';
import {keepPicture, picture} from './screenshots.js';
import {askPerson} from './questions.js';
import {countActing, findShare} from './shares.js';
import {siteOf} from './sites.js';

/**
 * @typedef {import('./journal.js').Outcome} Outcome
 * @typedef {{callId: string, shareId: string, tool: string, arguments: any, timeoutMs: number, locale: string}} Call
 */

const MESSAGE_CHARS = 4000;

/** The last call of each share; a share has one tab. @type {Map<string, Promise<void>>} */
const queues = new Map();
/** Running and queued calls. @type {Map<string, {shareId: string, controller: AbortController}>} */
const running = new Map();

/**
 * Run a call after the earlier calls of its tab, unless it was sent before.
 * @param {Call} call
 * @param {(callId: string, outcome: Outcome) => void} answer  called once there is a result, also with that of an earlier run
 */
export async function take(call, answer) {
  if (running.has(call.callId)) return;
  const controller = new AbortController();
  running.set(call.callId, {shareId: call.shareId, controller});
  const before = queues.get(call.shareId) ?? Promise.resolve();
  const done = before.then(() => carryOut(call, controller.signal)).then((outcome) => {
    running.delete(call.callId);
    if (outcome) answer(call.callId, outcome);
  });
  queues.set(call.shareId, done);
  await done;
  if (queues.get(call.shareId) === done) queues.delete(call.shareId);
}

/**
 * Never rejects, as the calls queued behind this one would then never start.
 * @param {Call} call @param {AbortSignal} cancelled @returns {Promise<Outcome | null>}  null: it was started before, and its outcome is unknown
 */
async function carryOut(call, cancelled) {
  try {
    const known = await begin(call.callId, call.shareId);
    if (known) return known.outcome;
    const outcome = await outcomeOf(call, cancelled);
    // the result is sent even without a record: the server asks again only for calls without an answer
    await finish(call.callId, outcome).catch((error) => console.error(error));
    return outcome;
  } catch (error) {
    return failed('internal_error', error); // a call that cannot be recorded is not started
  }
}

/** Cancel a call, which then fails. @param {string} callId */
export function cancel(callId) {
  running.get(callId)?.controller.abort(new PageError('interrupted', 'The call was cancelled.'));
}

/** Cancel all calls of a share. @param {string} shareId @param {PageError} error  the error with which they fail */
export function cancelShare(shareId, error) {
  for (const {shareId: of, controller} of running.values()) if (of === shareId) controller.abort(error);
}

/** Return true if any call is running or queued. */
export function hasCalls() {
  return running.size > 0;
}

/** @param {Call} call @param {AbortSignal} cancelled @returns {Promise<Outcome>} */
async function outcomeOf(call, cancelled) {
  const late = AbortSignal.timeout(call.timeoutMs);
  const signal = AbortSignal.any([cancelled, late]);
  let tabId = null;
  try {
    signal.throwIfAborted();
    const share = await usable(call.shareId);
    tabId = share.tabId;
    await countActing(tabId, 1);
    const result = call.tool === 'screenshot' ? await picture(share) : await act(call, tabId, signal);
    if (call.tool === 'page_action') void keepPicture(share);
    return {ok: true, result};
  } catch (error) {
    const reason = signal.aborted ? signal.reason : error;
    if (reason instanceof PageError) return failed(reason.type, reason.message);
    if (late.aborted) return failed('interrupted', `The page did not answer within ${call.timeoutMs} ms.`);
    console.error(reason);
    return failed('internal_error', reason);
  } finally {
    if (tabId !== null) await countActing(tabId, -1);
  }
}

/** @param {string} type @param {unknown} reason @returns {Outcome} */
function failed(type, reason) {
  return {ok: false, error: {type, message: String(reason).slice(0, MESSAGE_CHARS)}};
}

/** Return a share if calls may act in its tab. @param {string} shareId */
async function usable(shareId) {
  const share = await findShare(shareId);
  if (!share) throw new PageError('page_gone', 'The tab is not shared any more.');
  // check the tab too: the event that it has left may not have arrived yet
  const tab = await chrome.tabs.get(share.tabId).catch(() => null);
  if (!tab) throw new PageError('page_gone', 'The tab was closed.');
  if (share.state === 'paused' || siteOf(tab.url)?.origin !== share.origin) {
    throw new PageError('tab_paused', 'The tab has left the site that was shared. The person can share the new one in the panel.');
  }
  return share;
}

/** @param {Call} call @param {number} tabId @param {AbortSignal} signal */
async function act(call, tabId, signal) {
  /** @param {{kind: string, label: string, origin: string}} question */
  const confirm = (question) => askPerson({...question, tabId, signal});
  // a page that does not answer must not block the calls queued behind this one
  return Promise.race([runPageTool(tabId, call.tool, call.arguments, {locale: call.locale, reader: call.shareId, signal, confirm}), aborted(signal)]);
}

/** @param {AbortSignal} signal @returns {Promise<never>} */
function aborted(signal) {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), {once: true});
  });
}
