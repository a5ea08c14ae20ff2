/** Work that can wait until the page has nothing else to do. */

const LATER_MS = 50;
const AT_LATEST_MS = 1000;

/** Call `work` once nothing else is to be done; soon in any case. @param {() => void} work */
export function whenIdle(work) {
  if ('requestIdleCallback' in window) requestIdleCallback(work, {timeout: AT_LATEST_MS});
  else setTimeout(work, LATER_MS);
}
