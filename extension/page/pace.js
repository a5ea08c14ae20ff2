/** Long work in small pieces, between which the page runs. */

/** The longest piece; a page is smooth up to 50 ms. */
const PIECE_MS = 8;

/** How often the page was left. */
let leavings = 0;

/** Count when the page is left, from now on. */
export function watchLeavings() {
  addEventListener('pagehide', () => leavings++);
}

/**
 * Wait in a page that is not left meanwhile. The browser may keep one that is, and show it again as it was: whoever
 * asked was told that it is gone, so what was begun there never goes on.
 * @param {(resolve: () => void) => void} begin @returns {Promise<void>}
 */
function staying(begin) {
  const before = leavings;
  return new Promise((resolve) => begin(() => {
    if (leavings === before) resolve();
  }));
}

/** Let the page run what waits. A timer would be slowed down in a tab that nobody sees. @returns {Promise<void>} */
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

/** Wait. @param {number} ms @returns {Promise<void>} */
export function wait(ms) {
  return staying((resolve) => setTimeout(resolve, ms));
}

/** Wait until the page has been drawn, or would have been if anybody saw it. @returns {Promise<void>} */
export function drawn() {
  if (document.visibilityState === 'hidden') return turn();
  return staying((resolve) => {
    const late = setTimeout(resolve, 100); // a frame that is not seen is not drawn
    requestAnimationFrame(() => {
      clearTimeout(late);
      resolve();
    });
  });
}

/** Wait for something to become true. @param {() => boolean} isTrue @param {number} limitMs @returns {Promise<boolean>} */
export async function until(isTrue, limitMs) {
  const end = performance.now() + limitMs;
  while (!isTrue()) {
    if (performance.now() > end) return false;
    await wait(25);
  }
  return true;
}

/** Counts how long a piece has run. */
export class Pace {
  /** @param {number} limitMs  for all pieces together */
  constructor(limitMs) {
    this._end = performance.now() + limitMs;
    this._since = performance.now();
  }

  /** Whether the work has to end with what there is: a page that never stops changing would keep it for ever. */
  get isOver() {
    return performance.now() > this._end;
  }

  /** Whether it is time to rest. */
  get isDue() {
    return performance.now() - this._since > PIECE_MS;
  }

  async rest() {
    await turn();
    this._since = performance.now();
  }

  /**
   * Do something for each, with rests.
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
