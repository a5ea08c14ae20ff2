/** The tab next to the panel: the active tab of its window, or the one named in the panel's URL. */
import {Store} from '../../webui/base/store.js';
import {OWN_PAGE} from '../../tab/own-page.js';
import {pageError} from '../../tab/page-error.js';
import {onTabAllowed} from '../../worker/api.js';

/** @typedef {'ready' | 'page_forbidden' | 'permission_needed' | 'page_gone'} Reach  `ready` if the page can be read, else the reason */

class ActiveTab extends Store {
  constructor() {
    super();
    /** Null if there is none, or it is not known yet. @type {chrome.tabs.Tab | null} */
    this.tab = null;
    /** @type {Reach} */
    this.reach = 'page_gone';
    this._fixed = Number(new URLSearchParams(location.search).get('tab')) || null;
    /** @type {number | undefined} */
    this._window = undefined;
    this._loads = 0;
  }

  /** Follow the tab while the document exists. */
  async start() {
    this._window = (await chrome.windows.getCurrent()).id;
    const load = () => void this.load();
    chrome.tabs.onActivated.addListener(({windowId}) => { if (windowId === this._window) load(); });
    chrome.tabs.onUpdated.addListener((tabId, {status, title, url}) => { if (tabId === this.tab?.id && (status || title || url)) load(); });
    chrome.tabs.onRemoved.addListener((tabId) => { if (tabId === this.tab?.id) load(); });
    chrome.tabs.onReplaced.addListener(load);
    chrome.permissions.onAdded.addListener(load);
    chrome.permissions.onRemoved.addListener(load);
    onTabAllowed(load);
    await this.load();
  }

  async load() {
    const number = ++this._loads;
    const tab = await this._find();
    const reach = tab?.id === undefined ? 'page_gone' : await reachOf(tab.id);
    if (number !== this._loads) return; // a later load is in progress
    this.tab = tab;
    this.reach = reach;
    this.notify();
  }

  /** @returns {Promise<chrome.tabs.Tab | null>} */
  async _find() {
    if (this._fixed) return chrome.tabs.get(this._fixed).catch(() => null);
    const [tab] = await chrome.tabs.query({active: true, windowId: this._window});
    return tab ?? null;
  }
}

/** Check if a script may run in a page. @param {number} tabId @returns {Promise<Reach>} */
async function reachOf(tabId) {
  try {
    const isOwn = (/** @type {string} */ own) => document.querySelector(own) !== null;
    const [{result}] = await chrome.scripting.executeScript({target: {tabId}, func: isOwn, args: [OWN_PAGE], injectImmediately: true});
    return result ? 'page_forbidden' : 'ready';
  } catch (error) {
    const {type} = await pageError(tabId, error, 'en');
    return type === 'interrupted' || type === 'tab_paused' ? 'page_gone' : type;
  }
}

/** Return the host of a page, for display. @param {chrome.tabs.Tab | null} tab */
export function hostOf(tab) {
  return tab?.url && URL.canParse(tab.url) ? new URL(tab.url).host : '';
}

export const activeTab = new ActiveTab();
