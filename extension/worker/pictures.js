/**
 * Still pictures of shared tabs. The browser gives one only of what is in front; so the last one of each tab is kept, here
 * in memory and nowhere else, until its sharing ends or the tab leaves its site. It goes to the server when it is asked for.
 */
import {PageError} from '../tab/tab-page.js';
import {findShare} from './shares.js';
import {siteOf} from './sites.js';

/**
 * @typedef {{mime: string, base64: string, takenAt: number}} Picture  `takenAt`: milliseconds since 1970
 * @typedef {import('./shares.js').Share} Share
 */

/** Of a picture, so that its message stays below the server's bound. */
const PICTURE_CHARS = 900_000;
const QUALITIES = [80, 50, 25];
/** The browser takes no more than two in a second, of all tabs together. */
const REST_MS = 1000;

/** By share. @type {Map<string, Picture>} */
const kept = new Map();
let lastTriedAt = 0;

/** What a tab looks like: now, or else when it was last seen. @param {Share} share @returns {Promise<Picture>} @throws {PageError} */
export async function picture(share) {
  try {
    return await take(share);
  } catch (error) {
    const last = kept.get(share.shareId);
    if (last && error instanceof PageError) return last;
    throw error;
  }
}

/** Keep what a tab looks like, if it is in front and the person has opened the panel there. @param {Share} share */
export async function keepPicture(share) {
  if (Date.now() - lastTriedAt < REST_MS) return;
  await take(share).catch(() => {}); // most tabs are behind another one, which is as it should be
}

/** Let go of a picture. @param {string} shareId */
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
    // what was taken is whatever was in front, which may be another tab by now, or another site
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

/** What is in view in a window. @param {number} windowId @param {number} quality @returns {Promise<string>} @throws {PageError} */
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
