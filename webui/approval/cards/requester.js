/** Who wants something, in words. */
import {hasText, t} from '../../base/i18n.js';
import {visibleText} from '../guard/visible.js';

/** @param {import('./waiting.js').Requester} requester @param {string} [sessionId] */
export function requesterText({kind, id}, sessionId = '') {
  const key = `approval.by.${kind}`;
  const name = visibleText(id);
  const who = hasText(key) ? t(key, {name}) : `${visibleText(kind)} ${name}`.trim();
  return sessionId && sessionId !== id ? `${who} · ${t('approval.session', {name: visibleText(sessionId)})}` : who;
}
