/** Handles content sent from a page's context menu: it becomes a draft, or a file attached to the next message. */
import {t} from '../webui/base/i18n.js';
import {attachmentsOf} from '../webui/chat/attachments/attachments.js';
import {draftOf} from '../webui/chat/composer/drafts.js';
import {takePending} from '../worker/api.js';
import {activeTab} from './tab/active-tab.js';
import {setOff} from './tab/page-context.js';

/**
 * Take the pending content if it was sent from this window.
 * @param {string} sessionId  the chat in view; `''`: one that has not started
 * @returns {Promise<string | null>} what to set the draft to; null: unchanged
 */
export async function takeDraft(sessionId) {
  const pending = await takePending((await chrome.windows.getCurrent()).id);
  if (!pending) return null;
  await activeTab.load(); // the click grants the panel access to the tab
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
