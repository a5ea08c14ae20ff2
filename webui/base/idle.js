/** Work that can wait until the browser is idle. */

const LATER_MS = 50;
const AT_LATEST_MS = 1000;

/** Call `work` when the browser is idle, after a second at the latest. @param {() => void} work */
export function whenIdle(work) {
  if ('requestIdleCallback' in window) requestIdleCallback(work, {timeout: AT_LATEST_MS});
  else setTimeout(work, LATER_MS);
}
