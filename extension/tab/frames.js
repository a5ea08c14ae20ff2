/** The frames of a tab that may be read, and what is asked of each. */
import {OWN_PAGE} from './own-page.js';
import {PageError, pageError} from './page-error.js';
import {text} from './strings.js';

/**
 * @typedef {import('./strings.js').Language} Language
 * @typedef {{tabId: number, documentId: string, frameId: number}} Frame
 */

/** How long the frames inside of a page may keep it from being used: to take the script, and to answer. */
const INNER_MS = 3000;
const INNER_ANSWER_MS = 7000;
/** How long a page may take to answer: one that asks the person something with `confirm()` runs nothing meanwhile. */
const ANSWER_MS = 30_000;
const SCRIPT = 'page.js';

/**
 * Bring the script into all frames that may be read. Where it is already, it stays as it is.
 * @param {number} tabId @param {Language} language @param {AbortSignal} [signal]
 * @returns {Promise<Frame[]>}  the page's own first
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
  // a page that is still loading its pictures can be used
  return chrome.scripting.executeScript({target, files: [SCRIPT], injectImmediately: true});
}

/**
 * Wait for a promise no longer than that.
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
 * Ask one frame.
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
  // a document that is left in the middle answers nothing
  if (!answer) throw new FrameGone('no answer');
  if (answer.isOwn) throw new FrameOwn('agentcore');
  if (answer.error) throw new Error(answer.error);
  return answer.value;
}

/** A frame was left, or may not be read any more. */
export class FrameGone extends Error {}

/** A frame shows agentcore itself, and is as if it was not there. */
export class FrameOwn extends FrameGone {}

/** A frame does not answer: its scripts never end, or it shows a dialog. */
export class FrameSilent extends Error {}

/**
 * Ask all frames at the same time.
 * @param {Frame[]} frames @param {(frame: Frame) => Record<string, unknown>} requestFor @param {Language} language
 * @returns {Promise<{frame: Frame, answer: any}[]>}  of those that answered, the page's own first
 * @throws {PageError} the page itself did not
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
