/** Texts about a pending call, in the user's language: descriptions from its module, and the reason for asking. */
import {locale, t} from '../../base/i18n.js';
import {translatedSchema} from '../../client/translation.js';

/** @typedef {import('./pending-requests.js').WaitingCall} WaitingCall */

/** Return the first line of the tool's description. @param {WaitingCall} call */
export function descriptionOf({description, translations}) {
  return (translations[locale()]?.description ?? description).split('\n', 1)[0];
}

/** Return the translated schema of its arguments. @param {WaitingCall} call */
export function schemaOf({inputSchema, translations}) {
  return translatedSchema(inputSchema, translations[locale()]);
}

/** Return why approval is needed, in the words of the rule or module if it provides any. @param {WaitingCall} call */
export function reasonOf({reason, rule, askedBy}) {
  const [kind] = rule.split(':', 1);
  if (kind === 'mode') return t(askedBy.kind === 'chat' ? 'approval.because.chat' : 'approval.because.other');
  if (kind === 'protected' || kind === 'page_scripts' || kind === 'untrusted') return t(`approval.because.${kind}`);
  if (kind === 'preview') return t(`approval.because.${rule === 'preview:timed_out' ? 'previewTimedOut' : 'previewFailed'}`);
  return reason.startsWith(`${rule} of app.json says so`) ? t('approval.because.rule', {rule}) : reason;
}
