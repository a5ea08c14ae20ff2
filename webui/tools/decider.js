/** Who decided on a call, as a person calls them. */
import {hasText, t} from '../base/i18n.js';

/** @param {string} by  as the record has it: `approver:ID`, `client:NAME`, `terminal` */
export function deciderText(by) {
  const [kind, name = ''] = by.split(/:(.*)/s);
  const key = `tools.decider.${kind}`;
  return hasText(key) ? t(key, {name}) : by;
}
