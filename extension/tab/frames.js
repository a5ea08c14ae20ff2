/** The frames of a tab that may be read, and what is asked of each. */
import {PageError, pageError} from './page-error.js';
import {text} from './strings.js';

/**
 * @typedef {import('./strings.js').Language} Language
 * @typedef {{tabId: number, documentId: string, frameId: number}} Frame
 */

/** How long the frames inside of a page may keep it from being used. */
const INNER_MS = 3000;
const SCRIPT = 'page.js';

/**
 * Bring the script into all frames that may be read. Where it is already, it stays as it is.
 * @param {number} tabId @param {Language} language
 * @returns {Promise<Frame[]>}  the page's own first
 * @throws {PageError}
 */
export async function framesOf(tabId, language) {
  try {
    const [main] = await inject({tabId, frameIds: [0]});
    const inner = await soon(inject({tabId, allFrames: true}), INNER_MS).catch(() => []);
    return [main, ...inner.filter(({frameId}) => frameId !== 0)].map(({documentId, frameId}) => ({tabId, documentId, frameId}));
  } catch (error) {
    throw await pageError(tabId, error, language);
  }
}

/** @param {chrome.scripting.InjectionTarget} target */
function inject(target) {
  // a page that is still loading its pictures can be used
  return chrome.scripting.executeScript({target, files: [SCRIPT], injectImmediately: true});
}

/** @template T @param {Promise<T>} promise @param {number} limitMs @returns {Promise<T>} */
function soon(promise, limitMs) {
  const late = new Promise((_, reject) => { setTimeout(() => reject(new Error('late')), limitMs); });
  return Promise.race([promise, /** @type {Promise<never>} */ (late)]);
}

/**
 * Ask one frame.
 * @param {Frame} frame @param {Record<string, unknown>} request @returns {Promise<any>}
 * @throws {FrameGone}
 */
export async function ask({tabId, documentId}, request) {
  const injected = await chrome.scripting.executeScript({
    target: {tabId, documentIds: [documentId]}, args: [request], injectImmediately: true,
    func: (given) => /** @type {any} */ (globalThis)[Symbol.for('agentcore.page')].answer(given),
  }).catch((error) => {
    throw new FrameGone(error.message);
  });
  const answer = /** @type {any} */ (injected[0]?.result);
  // a document that is left in the middle answers nothing
  if (!answer) throw new FrameGone('no answer');
  if (answer.error) throw new Error(answer.error);
  return answer.value;
}

/** A frame was left, or may not be read any more. */
export class FrameGone extends Error {}

/**
 * Ask all frames at the same time.
 * @param {Frame[]} frames @param {(frame: Frame) => Record<string, unknown>} requestFor @param {Language} language
 * @returns {Promise<{frame: Frame, answer: any}[]>}  of those that answered, the page's own first
 * @throws {PageError} the page itself did not
 */
export async function askAll(frames, requestFor, language) {
  const asked = frames.map(async (frame) => {
    const answering = ask(frame, requestFor(frame));
    return {frame, answer: await (frame.frameId === 0 ? answering : soon(answering, INNER_MS + 4000))};
  });
  const [main, ...inner] = await Promise.allSettled(asked);
  if (main.status === 'rejected') {
    if (main.reason instanceof FrameGone) throw new PageError('page_gone', text(language, 'page_gone'));
    throw main.reason;
  }
  return [main, ...inner].flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
}
