/** Delays a new version of the extension while it would interrupt something. */
import {hasCalls} from './calls.js';
import {isAsking} from './questions.js';
import {allShares} from './shares.js';

/** Record that a new version is available; without a reload the browser installs it at its next start. */
export async function noteUpdate() {
  await chrome.storage.session.set({isUpdateWaiting: true});
  await updateIfIdle();
}

/** Install a pending version if no tab is shared, no call or question is pending, and no document of the extension is open. */
export async function updateIfIdle() {
  const {isUpdateWaiting = false} = await chrome.storage.session.get('isUpdateWaiting');
  if (!isUpdateWaiting || hasCalls() || isAsking() || (await allShares()).length) return;
  // a panel may be running a turn, or contain text that the user is typing
  const open = await chrome.runtime.getContexts({contextTypes: ['SIDE_PANEL', 'TAB', 'POPUP']});
  if (open.length === 0) chrome.runtime.reload();
}
