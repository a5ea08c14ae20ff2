/** Labels for who decided on a call. */
import {hasText, t} from '../base/i18n.js';

/** @param {string} by  as in the call log: `approver:ID`, `client:NAME`, `terminal` */
export function deciderText(by) {
  const [kind, name = ''] = by.split(/:(.*)/s);
  const key = `tools.decider.${kind}`;
  return hasText(key) ? t(key, {name}) : by;
}
