/**
 * The service worker: everything that has to continue while no panel is open. The browser ends it when it is idle and starts
 * it for an event, so all listeners are added while its script runs, and all state is in `chrome.storage`.
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

/** Resolves when the state of the previous run is settled; only then the event that woke the worker is handled. */
const started = start().catch((error) => console.error(error));

async function start() {
  await Promise.all([
    // before Chrome 140 only session storage supports this; pages reach neither, only our own content scripts do
    chrome.storage.local.setAccessLevel({accessLevel: 'TRUSTED_CONTEXTS'}).catch((error) => console.warn(error)),
    // a panel that the browser opens itself gets no access to the tab's page; one that we open on a click does
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
// starts the worker if it was ended while a tab was shared; nothing else is needed
chrome.alarms.onAlarm.addListener(afterStart(retryConnection));
self.addEventListener('online', afterStart(retryConnection));
chrome.action.onClicked.addListener(({id: tabId, windowId}) => {
  void chrome.sidePanel.open({windowId}); // first, as the browser opens a panel only while the click is being handled
  void chrome.storage.session.set({allowedTab: {tabId, at: Date.now()}});
  if (tabId !== undefined) afterStart(follow)(tabId); // a paused tab's URL is accessible now
});
chrome.contextMenus.onClicked.addListener((info, tab) => void sendToChat(info, tab));
chrome.runtime.onInstalled.addListener(() => void makeMenus());
chrome.runtime.onUpdateAvailable.addListener(afterStart(noteUpdate));
