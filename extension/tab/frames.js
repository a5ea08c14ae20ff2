/** The accessible frames of a tab, and requests to them. */
import {OWN_PAGE} from './own-page.js';
import {PageError, pageError} from './page-error.js';
import {text} from './strings.js';

/**
 * @typedef {import('./strings.js').Language} Language
 * @typedef {{tabId: number, documentId: string, frameId: number}} Frame
 */

/** The time limits for inner frames, so that they cannot block the page: to accept the script, and to answer. */
const INNER_MS = 3000;
const INNER_ANSWER_MS = 7000;
/** The time limit for a page to answer; its scripts are blocked while it shows a `confirm()` dialog. */
const ANSWER_MS = 30_000;
const SCRIPT = 'page.js';

/**
 * Inject the script into all accessible frames. A script that is already there stays as it is.
 * @param {number} tabId @param {Language} language @param {AbortSignal} [signal]
 * @returns {Promise<Frame[]>}  the main frame first
 * @throws {PageError}
 */
export async function framesOf(tabId, language, signal) {
  try {
    const [main] = await within(ANSWER_MS, inject({tabId, frameIds: [0]}), signal);
    const inner = await within(INNER_MS, inject({tabId, allFrames: true}), signal).catch(() => []);
    return [main, ...inner.filter(({frameId}) => frameId !== 0)].map(({documentId, frameId}) => ({tabId, documentId, frameId}));
  } catch (error) {
    if (signal?.aborted) throw error;
    throw error instanceof FrameSilent ? new PageError('page_gone', text(language, 'noAnswer')) : await pageError(tabId, error, language);
  }
}

/** @param {chrome.scripting.InjectionTarget} target */
function inject(target) {
  // a page can be used while it is still loading images
  return chrome.scripting.executeScript({target, files: [SCRIPT], injectImmediately: true});
}

/**
 * Wait for a promise, up to a time limit.
 * @template T @param {number} limitMs @param {Promise<T>} promise @param {AbortSignal} [signal]  its reason is thrown
 * @returns {Promise<T>}
 * @throws {FrameSilent}
 */
function within(limitMs, promise, signal) {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new FrameSilent('no answer')), limitMs);
    const abort = () => reject(signal?.reason);
    signal?.addEventListener('abort', abort, {once: true});
    if (signal?.aborted) abort();
    promise.then(resolve, reject).finally(() => {
      clearTimeout(late);
      signal?.removeEventListener('abort', abort);
    });
  });
}

/**
 * Send a request to one frame.
 * @param {Frame} frame @param {Record<string, unknown>} request @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 * @throws {FrameGone | FrameSilent}
 */
export async function ask({tabId, documentId}, request, signal) {
  const injected = await within(ANSWER_MS, chrome.scripting.executeScript({
    target: {tabId, documentIds: [documentId]}, args: [request, OWN_PAGE], injectImmediately: true,
    func: (/** @type {any} */ given, /** @type {any} */ own) => (document.querySelector(own) ? {isOwn: true} : /** @type {any} */ (globalThis)[Symbol.for('agentcore.page')].answer(given)),
  }).catch((error) => {
    throw new FrameGone(error.message);
  }), signal);
  const answer = /** @type {any} */ (injected[0]?.result);
  // a document that is left meanwhile returns nothing
  if (!answer) throw new FrameGone('no answer');
  if (answer.isOwn) throw new FrameOwn('agentcore');
  if (answer.error) throw new Error(answer.error);
  return answer.value;
}

/** Thrown when a frame was left, or is no longer accessible. */
export class FrameGone extends Error {}

/** Thrown when a frame shows agentcore itself; it is treated as if it did not exist. */
export class FrameOwn extends FrameGone {}

/** Thrown when a frame does not answer: its scripts never end, or it shows a dialog. */
export class FrameSilent extends Error {}

/**
 * Send a request to all frames at the same time.
 * @param {Frame[]} frames @param {(frame: Frame) => Record<string, unknown>} requestFor @param {Language} language
 * @returns {Promise<{frame: Frame, answer: any}[]>}  of the frames that answered, the main frame first
 * @throws {PageError} the main frame did not answer
 */
export async function askAll(frames, requestFor, language) {
  const asked = frames.map(async (frame) => {
    const answering = ask(frame, requestFor(frame));
    return {frame, answer: await (frame.frameId === 0 ? answering : within(INNER_ANSWER_MS, answering))};
  });
  const [main, ...inner] = await Promise.allSettled(asked);
  if (main.status === 'rejected') {
    if (main.reason instanceof FrameSilent) throw new PageError('page_gone', text(language, 'noAnswer'));
    if (main.reason instanceof FrameOwn) throw new PageError('page_forbidden', text(language, 'ownPage'));
    if (main.reason instanceof FrameGone) throw new PageError('page_gone', text(language, 'page_gone'));
    throw main.reason;
  }
  return [main, ...inner].flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
}
