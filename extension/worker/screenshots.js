/**
 * Screenshots of shared tabs. The browser captures only active tabs; so the last screenshot of each tab is kept, in memory
 * only, until its share ends or the tab leaves its site. It is sent to the server on request.
 */
import {PageError} from '../tab/tab-page.js';
import {findShare} from './shares.js';
import {siteOf} from './sites.js';

/**
 * @typedef {{mime: string, base64: string, takenAt: number}} Picture  `takenAt`: milliseconds since 1970
 * @typedef {import('./shares.js').Share} Share
 */

/** The limit for a screenshot, so that its message stays below the server's limit. */
const PICTURE_CHARS = 900_000;
const QUALITIES = [80, 50, 25];
/** The browser allows at most two captures per second, for all tabs together. */
const REST_MS = 1000;

/** The last screenshot of each share. @type {Map<string, Picture>} */
const kept = new Map();
let lastTriedAt = 0;

/** Return a screenshot of a tab: a new one, or else the last one. @param {Share} share @returns {Promise<Picture>} @throws {PageError} */
export async function picture(share) {
  try {
    return await take(share);
  } catch (error) {
    const last = kept.get(share.shareId);
    if (last && error instanceof PageError) return last;
    throw error;
  }
}

/** Store a screenshot of a tab, if it is active and the user has opened the panel there. @param {Share} share */
export async function keepPicture(share) {
  if (Date.now() - lastTriedAt < REST_MS) return;
  await take(share).catch(() => {}); // usually the tab is in the background, which is fine
}

/** Delete a screenshot. @param {string} shareId */
export function forgetPicture(shareId) {
  kept.delete(shareId);
}

/** @param {Share} share @returns {Promise<Picture>} */
async function take({shareId, tabId, origin}) {
  const tab = await chrome.tabs.get(tabId);
  if (!tab.active) throw new PageError('page_gone', 'A picture can be taken only of a tab that is in front in its window.');
  lastTriedAt = Date.now();
  for (const quality of QUALITIES) {
    const address = await capture(tab.windowId, quality);
    // the capture shows whatever was in front, which may be another tab or another site by now
    const {active, url} = await chrome.tabs.get(tabId);
    if (!active || siteOf(url)?.origin !== origin || !(await findShare(shareId))) {
      throw new PageError('page_gone', 'The person went somewhere else meanwhile.');
    }
    const base64 = address.slice(address.indexOf(',') + 1);
    if (base64.length > PICTURE_CHARS) continue;
    const taken = {mime: 'image/jpeg', base64, takenAt: Date.now()};
    kept.set(shareId, taken);
    return taken;
  }
  throw new PageError('page_gone', 'The picture of this tab is too large.');
}

/** Capture the visible area of a window. @param {number} windowId @param {number} quality @returns {Promise<string>} @throws {PageError} */
async function capture(windowId, quality, isAgain = false) {
  try {
    return await chrome.tabs.captureVisibleTab(windowId, {format: 'jpeg', quality});
  } catch (error) {
    const {message} = /** @type {Error} */ (error);
    if (!isAgain && /quota/i.test(message)) {
      await new Promise((resolve) => setTimeout(resolve, REST_MS));
      return capture(windowId, quality, true);
    }
    throw new PageError('permission_needed', `The browser gives no picture of this tab until the person opens the panel there: ${message}`);
  }
}
