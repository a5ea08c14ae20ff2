/** What goes of a page with a message: read when the message is sent, and shown before when the person asks. */
import {locale} from '../../webui/base/i18n.js';
import {collectContext, pageTools} from '../../tab/tab-page.js';
import {noteTurn} from '../calls/turns.js';
import {listShares} from '../../worker/api.js';
import {change, onStored, read} from '../stored.js';
import {activeTab, hostOf} from './active-tab.js';

const OFF = 'panelPageOff';
const READ_ONLY = new Set(['request_more_elements', 'get_selected_text']);

/** Whether the page of a tab does not go with messages, because the person has taken it off. @param {number | undefined} tabId */
export async function isOff(tabId) {
  return (await read(OFF, /** @type {number[]} */ ([]))).includes(tabId ?? -1);
}

/** Take the page of a tab off, until it is put on again. @param {number} tabId @param {boolean} off */
export function setOff(tabId, off) {
  return change(OFF, /** @type {number[]} */ ([]), (tabs) => {
    const others = tabs.filter((each) => each !== tabId);
    tabs.splice(0, tabs.length, ...others, ...(off ? [tabId] : []));
  });
}

/** @param {() => void} handler @returns {() => void} the way to end it */
export const onOff = (handler) => onStored([OFF], handler);

/** What would go with a message now. @param {number} tabId @returns {ReturnType<typeof collectContext>} @throws {import('../../tab/tab-page.js').PageError} */
export function look(tabId) {
  return collectContext(tabId, {locale: locale()});
}

/**
 * The page beside the panel and the tools for it, as fields of a message. Nothing, where the person has taken it off or it cannot be read.
 * @param {string} sessionId
 * @returns {Promise<{currentPageInfo?: object, browserTools?: object[]}>}
 */
export async function contextOf(sessionId) {
  const {tab, reach} = activeTab;
  if (tab?.id === undefined || reach !== 'ready' || await isOff(tab.id)) return {};
  try {
    const currentPageInfo = await look(tab.id);
    // the server has its own tools for a tab that is shared with the chat
    if ((await listShares()).some((share) => share.tabId === tab.id && share.sessionId === sessionId)) return {currentPageInfo};
    await noteTurn(sessionId, {tabId: tab.id, host: hostOf(tab), elements: currentPageInfo.elements});
    return {currentPageInfo, browserTools: pageTools(locale()).map((tool) => ({...tool, readOnly: READ_ONLY.has(tool.name)}))};
  } catch {
    void activeTab.load(); // the page was left, or may not be read any more: the chip says so, and the words go alone
    return {};
  }
}
