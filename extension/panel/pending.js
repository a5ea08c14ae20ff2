/** What the person sends from the context menu of a page: it becomes a draft, or a file that goes with the next message. */
import {t} from '../webui/base/i18n.js';
import {attachmentsOf} from '../webui/chat/attachments/attachments.js';
import {draftOf} from '../webui/chat/composer/drafts.js';
import {takePending} from '../worker/api.js';
import {activeTab} from './tab/active-tab.js';
import {setOff} from './tab/page-context.js';

/**
 * Take what waits, if it was sent in this window.
 * @param {string} sessionId  of the chat in view; `''`: one that is not begun
 * @returns {Promise<string | null>} what the draft is from now on; null: it stays
 */
export async function takeDraft(sessionId) {
  const [{id: own}, {id: clicked}] = await Promise.all([chrome.windows.getCurrent(), chrome.windows.getLastFocused()]);
  const pending = own === clicked ? await takePending() : null;
  if (!pending) return null;
  await activeTab.load(); // the click lets the panel see the tab
  if (pending.kind === 'page' && activeTab.tab?.id !== undefined) await setOff(activeTab.tab.id, false);
  if (pending.picture) {
    const blob = await (await fetch(pending.picture)).blob();
    attachmentsOf(sessionId).add([new File([blob], `${t('panel.pictureName')}.${blob.type.split('/')[1]?.replace('jpeg', 'jpg') ?? 'png'}`, {type: blob.type})]);
    return null;
  }
  return [draftOf(sessionId).trim(), textOf(pending)].filter(Boolean).join('\n\n') + '\n\n';
}

/** @param {import('../worker/api.js').Pending} pending */
function textOf({kind, text = '', url = '', pageUrl, title}) {
  if (kind !== 'selection') return kind === 'page' && title ? `${title}\n${url}` : url;
  const quoted = text.trim().split('\n').map((line) => `> ${line}`).join('\n');
  return `${quoted}\n${t('panel.quotedFrom', {title: title || pageUrl, url: pageUrl})}`;
}
