/** The page context sent with a message: read when the message is sent, and shown beforehand on request. */
import {locale} from '../../webui/base/i18n.js';
import {collectContext, pageTools} from '../../tab/tab-page.js';
import {noteTurn} from '../calls/turn-tabs.js';
import {listShares} from '../../worker/api.js';
import {change, onStored, read} from '../stored.js';
import {activeTab, hostOf} from './active-tab.js';

const OFF = 'panelPageOff';
const READ_ONLY = new Set(['request_more_elements', 'get_selected_text']);

/** Return true if the user has excluded the page of a tab from messages. @param {number | undefined} tabId */
export async function isOff(tabId) {
  return (await read(OFF, /** @type {number[]} */ ([]))).includes(tabId ?? -1);
}

/** Exclude the page of a tab from messages, or include it again. @param {number} tabId @param {boolean} off */
export function setOff(tabId, off) {
  return change(OFF, /** @type {number[]} */ ([]), (tabs) => {
    const others = tabs.filter((each) => each !== tabId);
    tabs.splice(0, tabs.length, ...others, ...(off ? [tabId] : []));
  });
}

/** @param {() => void} handler @returns {() => void} the unsubscribe function */
export const onOff = (handler) => onStored([OFF], handler);

/** Return what would be sent with a message now. @param {number} tabId @returns {ReturnType<typeof collectContext>} @throws {import('../../tab/tab-page.js').PageError} */
export function look(tabId) {
  return collectContext(tabId, {locale: locale()});
}

/**
 * Return the page next to the panel and its tools as fields of a message; empty if the user has excluded the page or it cannot be read.
 * @param {string} sessionId
 * @returns {Promise<{currentPageInfo?: object, browserTools?: object[]}>}
 */
export async function contextOf(sessionId) {
  const {tab, reach} = activeTab;
  if (tab?.id === undefined || reach !== 'ready' || await isOff(tab.id)) return {};
  try {
    const currentPageInfo = await look(tab.id);
    // for a tab shared with the chat the server provides its own tools
    if ((await listShares()).some((share) => share.tabId === tab.id && share.sessionId === sessionId)) return {currentPageInfo};
    await noteTurn(sessionId, {tabId: tab.id, host: hostOf(tab), elements: currentPageInfo.elements});
    return {currentPageInfo, browserTools: pageTools(locale()).map((tool) => ({...tool, readOnly: READ_ONLY.has(tool.name)}))};
  } catch {
    void activeTab.load(); // the page was left or can no longer be read: the chip shows that, and the message is sent without it
    return {};
  }
}
