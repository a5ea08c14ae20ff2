/** The tab that the panel stands beside: its window's active one, or the one that its address names. */
import {Store} from '../../webui/base/store.js';
import {OWN_PAGE} from '../../tab/own-page.js';
import {pageError} from '../../tab/page-error.js';
import {onTabAllowed} from '../../worker/api.js';

/** @typedef {'ready' | 'page_forbidden' | 'permission_needed' | 'page_gone'} Reach  whether the page can be read, or why not */

class ActiveTab extends Store {
  constructor() {
    super();
    /** null: there is none, or it is not known yet. @type {chrome.tabs.Tab | null} */
    this.tab = null;
    /** @type {Reach} */
    this.reach = 'page_gone';
    this._fixed = Number(new URLSearchParams(location.search).get('tab')) || null;
    /** @type {number | undefined} */
    this._window = undefined;
    this._loads = 0;
  }

  /** Follow it, for as long as the document lives. */
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
    if (number !== this._loads) return; // a later answer is on its way
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

/** Whether a script may run in a page. @param {number} tabId @returns {Promise<Reach>} */
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

/** What people call the place of a page. @param {chrome.tabs.Tab | null} tab */
export function hostOf(tab) {
  return tab?.url && URL.canParse(tab.url) ? new URL(tab.url).host : '';
}

export const activeTab = new ActiveTab();
