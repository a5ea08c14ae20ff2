/** What is said of a call that waits, in the person's language: by the module, and by what asks. */
import {locale, t} from '../../base/i18n.js';
import {translatedSchema} from '../../client/translation.js';

/** @typedef {import('./waiting.js').WaitingCall} WaitingCall */

/** What the tool does, on one line. @param {WaitingCall} call */
export function descriptionOf({description, translations}) {
  return (translations[locale()]?.description ?? description).split('\n', 1)[0];
}

/** The schema of its arguments. @param {WaitingCall} call */
export function schemaOf({inputSchema, translations}) {
  return translatedSchema(inputSchema, translations[locale()]);
}

/** Why it is asked about; in the words of a rule or a module, where these have some. @param {WaitingCall} call */
export function reasonOf({reason, rule, askedBy}) {
  const [kind] = rule.split(':', 1);
  if (kind === 'mode') return t(askedBy.kind === 'chat' ? 'approval.because.chat' : 'approval.because.other');
  if (kind === 'protected' || kind === 'page_scripts' || kind === 'untrusted') return t(`approval.because.${kind}`);
  if (kind === 'preview') return t(`approval.because.${rule === 'preview:timed_out' ? 'previewTimedOut' : 'previewFailed'}`);
  return reason.startsWith(`${rule} of app.json says so`) ? t('approval.because.rule', {rule}) : reason;
}
