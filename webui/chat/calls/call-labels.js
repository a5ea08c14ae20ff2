/** Short labels of a call: its purpose and its result. */
import {formatNumber, hasText, t} from '../../base/i18n.js';
import {diffsIn} from '../../results/text-detection.js';
import {holdsDiff, parseDiff} from '../../ui/content/unified-diff.js';
import {wordsOf} from './call-summary.js';

/** @typedef {import('../../client/client.js').Envelope} Envelope */

const BRIEF_CHARS = 160;
const REASON_CHARS = 600;

/** Summarize a call: the summary from its tool, else its arguments, or the steps if they are the only argument. @param {import('../conversation/items.js').ChatCall} call @returns {string[]} a line for each step */
export function linesOf(call) {
  const said = wordsOf(call);
  if (said.length) return said.map(brief);
  const entries = entriesOf(call.arguments);
  const steps = entries.length === 1 ? entries[0][1] : null;
  const areSteps = Array.isArray(steps) && steps.length > 0 && steps.every((step) => step !== null && typeof step === 'object');
  return areSteps ? steps.map(brief) : [summaryOf(call.arguments)].filter(Boolean);
}

/** @param {Record<string, any>} args */
const entriesOf = (args) => Object.entries(args).filter(([, value]) => value !== null && value !== undefined);

/** Return the arguments on one line; a single one without its name. @param {Record<string, any>} args */
function summaryOf(args) {
  const entries = entriesOf(args);
  const text = entries.length === 1 ? brief(entries[0][1]) : entries.map(([name, value]) => `${name}: ${brief(value)}`).join('  ');
  return text.length > BRIEF_CHARS ? `${text.slice(0, BRIEF_CHARS)}…` : text;
}

/** Summarize the result in a few characters: the number of changed lines, an image, or that it is done. @param {Envelope | null | undefined} envelope */
export function endSummary(envelope) {
  const diff = diffIn(envelope);
  if (diff) {
    const lines = parseDiff(diff).flatMap(({hunks}) => hunks.flatMap((hunk) => hunk.lines));
    const count = (/** @type {string} */ kind) => formatNumber(lines.filter((line) => line.kind === kind).length);
    return `+${count('added')} −${count('removed')}`;
  }
  if (envelope?.content?.some(({type}) => type === 'image')) return t('results.image');
  return t('chat.state.done');
}

/** Return why the call failed, with what helps, which often comes last; empty if it did not fail. @param {import('../conversation/items.js').ChatCall} call */
export function reasonOf({state, result}) {
  if (state !== 'failed' && state !== 'interrupted') return '';
  const own = `ui.error.${result?.error?.type}`;
  if (hasText(own)) return t(own);
  const text = (result?.error?.message ?? '').trim().replace(/\s*\n\s*/g, ' ');
  return text.length > REASON_CHARS ? `${text.slice(0, REASON_CHARS)}…` : text || result?.error?.type || '';
}

/** True if the result contains a diff. @param {Envelope | null | undefined} envelope */
export const holdsDiffOf = (envelope) => Boolean(diffIn(envelope));

/** True if a successful result contains an image or a diff. @param {Envelope | null | undefined} envelope */
export function holdsPicture(envelope) {
  return Boolean(envelope?.ok && (envelope.content?.some(({type}) => type === 'image') || diffIn(envelope)));
}

/** @param {Envelope | null | undefined} envelope @returns {string} */
function diffIn(envelope) {
  const texts = (envelope?.content ?? []).map((block) => (block.type === 'text' ? block.text : ''));
  return texts.find(holdsDiff) ?? diffsIn(envelope?.data)[0] ?? '';
}

/** Return the content of a value, without JSON syntax. @param {any} value @returns {string} */
function brief(value) {
  if (typeof value === 'string' && value.trim().includes('\n')) return '…'; // multi-line text is hard to read on one line
  if (value !== null && typeof value === 'object') return Object.values(value).map(brief).filter(Boolean).join(' · ');
  return String(value ?? '').replaceAll(/\s+/g, ' ').trim();
}
