/** Errors of tabs that cannot be used. */
import {text} from './strings.js';

/** @typedef {'page_forbidden' | 'page_gone' | 'permission_needed' | 'tab_paused' | 'interrupted'} PageErrorType */

export class PageError extends Error {
  /**
   * @param {PageErrorType} type
   * @param {string} message  for users and models
   * @param {string} [origin]  of the page, if known
   */
  constructor(type, message, origin = '') {
    super(message);
    this.name = 'PageError';
    this.type = type;
    this.origin = origin;
  }
}

const GONE = /no tab with id|tab was closed|frame with id \d+ was removed|frame was removed|no frame with id|no document with id|document was removed|showing error page|navigat|back\/forward|bfcache/i;
const FORBIDDEN = /chrome:\/\/|chrome-extension:\/\/|gallery|devtools|view-source|policy|chrome-untrusted|edge:\/\/|blocked/i;

/**
 * Translate the browser's error for a tab in which no script may run.
 * @param {number} tabId @param {unknown} error @param {import('./strings.js').Language} language @returns {Promise<PageError>}
 */
export async function pageError(tabId, error, language) {
  const message = error instanceof Error ? error.message : String(error);
  const tab = await chrome.tabs.get(tabId).catch(() => null);
  const address = tab?.url || tab?.pendingUrl || '';
  const origin = URL.canParse(address) ? new URL(address).origin : '';
  const type = typeOf(tab, address, message);
  return new PageError(type, text(language, type), origin === 'null' ? '' : origin);
}

/** @param {chrome.tabs.Tab | null} tab @param {string} address @param {string} message @returns {PageErrorType} */
function typeOf(tab, address, message) {
  if (!tab || GONE.test(message)) return 'page_gone';
  if (FORBIDDEN.test(message)) return 'page_forbidden';
  if (address && !/^https?:/.test(address)) return 'page_forbidden';
  return 'permission_needed';
}
