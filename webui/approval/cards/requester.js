/** Text that describes a requester. */
import {hasText, t} from '../../base/i18n.js';
import {visibleText} from '../guard/visible-text.js';

/** @param {import('./pending-requests.js').Requester} requester @param {string} [sessionTitle] */
export function requesterText({kind, name}, sessionTitle = '') {
  const shown = visibleText(name);
  const key = `approval.by.${kind}${kind === 'chat' && !shown ? 'Untitled' : ''}`;
  const who = hasText(key) ? t(key, {name: shown}).trim() : `${visibleText(kind)} ${shown}`.trim();
  return sessionTitle && kind !== 'chat' ? `${who} · ${t('approval.inChat', {name: visibleText(sessionTitle)})}` : who;
}
