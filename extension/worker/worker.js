/**
 * The service worker: what has to go on while no panel is open. The browser ends it when nothing happens and starts it
 * for an event, so all listeners are there when its script has run, and all state lies in `chrome.storage`.
 */
import {interruptBegun} from './journal.js';
import {makeMenus, sendToChat} from './menus.js';
import {answerDocuments} from './messages.js';
import {dropQuestions, takeAnswer} from './questions.js';
import {onServersChanged} from './servers.js';
import {
  checkPermissions, connectAsNeeded, endShare, follow, renumber, resumeShare, resumeSharing, retryConnection, shareTab,
} from './sharing.js';
import {prepareTabEvents} from './tab-events.js';
import {noteUpdate, updateIfIdle} from './updates.js';

/** What was of before is settled first, and then whatever woke the worker. */
const started = start().catch((error) => console.error(error));

async function start() {
  await Promise.all([
    // before Chrome 140 only the session's storage takes this; pages never reach either, only our own scripts in them
    chrome.storage.local.setAccessLevel({accessLevel: 'TRUSTED_CONTEXTS'}).catch((error) => console.warn(error)),
    // a panel that the browser opens itself is not given the page of the tab; one that we open on a click is
    chrome.sidePanel.setPanelBehavior({openPanelOnActionClick: false}),
    interruptBegun(),
    dropQuestions(),
  ]);
  await resumeSharing();
  await updateIfIdle();
}

/** @template {any[]} A @param {(...values: A) => unknown} handle @returns {(...values: A) => void} */
function afterStart(handle) {
  return (...values) => void started.then(() => handle(...values));
}

prepareTabEvents({
  changed: afterStart(follow),
  replaced: afterStart(renumber),
});
answerDocuments({
  share: ({tabId, sessionId, sessionTitle}) => started.then(() => shareTab(tabId, sessionId, sessionTitle)),
  endShare: ({shareId}) => started.then(() => endShare(shareId, 'person')),
  resumeShare: ({shareId}) => started.then(() => resumeShare(shareId)),
  answerQuestion: ({id, isAllowed}) => takeAnswer(id, isAllowed === true),
});
onServersChanged(afterStart(connectAsNeeded));
chrome.permissions.onRemoved.addListener(afterStart(checkPermissions));
// the worker was ended while a tab was shared: that it starts is all that is wanted
chrome.alarms.onAlarm.addListener(afterStart(retryConnection));
self.addEventListener('online', afterStart(retryConnection));
chrome.action.onClicked.addListener(({id: tabId, windowId}) => {
  void chrome.sidePanel.open({windowId}); // at once: the browser opens a panel only while the click is being handled
  void chrome.storage.session.set({allowedTab: {tabId, at: Date.now()}});
  if (tabId !== undefined) afterStart(follow)(tabId); // a paused tab's address is known now
});
chrome.contextMenus.onClicked.addListener((info, tab) => void sendToChat(info, tab));
chrome.runtime.onInstalled.addListener(() => void makeMenus());
chrome.runtime.onUpdateAvailable.addListener(afterStart(noteUpdate));
