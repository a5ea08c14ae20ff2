/** The badge on the extension's icon, per tab: shows that a model may act there, and when it does. */

/** @typedef {'shared' | 'acting' | 'paused'} Mark */

/** @type {Record<Mark, {text: string, colour: string, title: string}>} */
const MARKS = {
  shared: {text: '●', colour: '#2456cc', title: 'tabShared'},
  acting: {text: '▶', colour: '#b45309', title: 'tabActing'},
  paused: {text: '❚❚', colour: '#6b7280', title: 'tabPaused'},
};

/** Set the badge of a tab. The browser removes badges when a tab navigates. @param {number} tabId @param {Mark | null} mark  null: none */
export async function markTab(tabId, mark) {
  const {text, colour, title} = mark ? MARKS[mark] : {text: '', colour: '#2456cc', title: 'open'};
  await Promise.all([
    chrome.action.setBadgeText({tabId, text}),
    chrome.action.setBadgeBackgroundColor({tabId, color: colour}),
    chrome.action.setBadgeTextColor({tabId, color: '#ffffff'}),
    chrome.action.setTitle({tabId, title: chrome.i18n.getMessage(title)}),
  ]).catch(() => {}); // the tab is gone, and its badge with it
}
