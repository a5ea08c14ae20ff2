/** The mark on the extension's icon, of one tab each: that an agent may act there, and when it does. */

/** @typedef {'shared' | 'acting' | 'paused'} Mark */

/** @type {Record<Mark, {text: string, colour: string, title: string}>} */
const MARKS = {
  shared: {text: '●', colour: '#2456cc', title: 'tabShared'},
  acting: {text: '▶', colour: '#b45309', title: 'tabActing'},
  paused: {text: '❚❚', colour: '#6b7280', title: 'tabPaused'},
};

/** Mark a tab. The browser takes marks off when a tab navigates. @param {number} tabId @param {Mark | null} mark  null: none */
export async function markTab(tabId, mark) {
  const {text, colour, title} = mark ? MARKS[mark] : {text: '', colour: '#2456cc', title: 'open'};
  await Promise.all([
    chrome.action.setBadgeText({tabId, text}),
    chrome.action.setBadgeBackgroundColor({tabId, color: colour}),
    chrome.action.setBadgeTextColor({tabId, color: '#ffffff'}),
    chrome.action.setTitle({tabId, title: chrome.i18n.getMessage(title)}),
  ]).catch(() => {}); // the tab is gone, and its mark with it
}
