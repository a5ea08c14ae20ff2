/** Splits long work into short chunks, between which the page can run. */

/** The maximum duration of a chunk; a page stays smooth up to 50 ms. */
const PIECE_MS = 8;

/** The number of times that the page was left. */
let leavings = 0;

/** Start counting how often the page is left. */
export function watchLeavings() {
  addEventListener('pagehide', () => leavings++);
}

/**
 * Return a promise that settles only if the page is not left meanwhile. The browser may put a page into the
 * back/forward cache and restore it; the caller was notified that the page is gone, so work started there must not continue.
 * @param {(resolve: () => void) => void} begin @returns {Promise<void>}
 */
function staying(begin) {
  const before = leavings;
  return new Promise((resolve) => begin(() => {
    if (leavings === before) resolve();
  }));
}

/** Let the page run its pending tasks. A timer would be throttled in a background tab. @returns {Promise<void>} */
export function turn() {
  return staying((resolve) => {
    const {port1, port2} = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

/** Wait for a number of milliseconds. @param {number} ms @returns {Promise<void>} */
export function wait(ms) {
  return staying((resolve) => setTimeout(resolve, ms));
}

/** Wait until the page has been rendered, or would have been if it was visible. @returns {Promise<void>} */
export function drawn() {
  if (document.visibilityState === 'hidden') return turn();
  return staying((resolve) => {
    const late = setTimeout(resolve, 100); // frames outside the viewport are not rendered
    requestAnimationFrame(() => {
      clearTimeout(late);
      resolve();
    });
  });
}

/** Wait for a condition; resolve to false after the time limit. @param {() => boolean} isTrue @param {number} limitMs @returns {Promise<boolean>} */
export async function until(isTrue, limitMs) {
  const end = performance.now() + limitMs;
  while (!isTrue()) {
    if (performance.now() > end) return false;
    await wait(25);
  }
  return true;
}

/** Limits how long work runs, in total and per chunk. */
export class Pace {
  /** @param {number} limitMs  for all chunks together */
  constructor(limitMs) {
    this._end = performance.now() + limitMs;
    this._since = performance.now();
  }

  /** True once the time is up and the work has to return what it has; a page that never stops changing would take forever. */
  get isOver() {
    return performance.now() > this._end;
  }

  /** True when it is time to rest. */
  get isDue() {
    return performance.now() - this._since > PIECE_MS;
  }

  async rest() {
    await turn();
    this._since = performance.now();
  }

  /**
   * Call a function for each item, with rests.
   * @template T @param {Iterable<T>} items @param {(item: T) => unknown} work
   */
  async each(items, work) {
    for (const item of items) {
      if (this.isDue) {
        if (this.isOver) return;
        await this.rest();
      }
      work(item);
    }
  }
}
