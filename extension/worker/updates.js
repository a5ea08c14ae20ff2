/** A new version of the extension waits until nothing goes on that it would cut off. */
import {hasCalls} from './calls.js';
import {isAsking} from './questions.js';
import {allShares} from './shares.js';

/** The browser has a new version; without a word from us it takes it when it starts the next time. */
export async function noteUpdate() {
  await chrome.storage.session.set({isUpdateWaiting: true});
  await updateIfIdle();
}

/** Take a waiting version, if no tab is shared, nothing is being asked, and no document of ours is open. */
export async function updateIfIdle() {
  const {isUpdateWaiting = false} = await chrome.storage.session.get('isUpdateWaiting');
  if (!isUpdateWaiting || hasCalls() || isAsking() || (await allShares()).length) return;
  // a turn goes on in a panel, and so may what the person types
  const open = await chrome.runtime.getContexts({contextTypes: ['SIDE_PANEL', 'TAB', 'POPUP']});
  if (open.length === 0) chrome.runtime.reload();
}
