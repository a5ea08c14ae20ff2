/** A call in few words: what it is about, and what came of it. */
import {formatNumber, t} from '../../base/i18n.js';
import {diffsIn} from '../../results/recognise.js';
import {holdsDiff, parseDiff} from '../../ui/content/unified-diff.js';
import {wordsOf} from './words.js';

/** @typedef {import('../../client/client.js').Envelope} Envelope */

const BRIEF_CHARS = 160;

/** A call in few words: those of its tool, else its arguments; of a list of steps alone, what each of them holds. @param {import('../conversation/items.js').ChatCall} call @returns {string[]} a line for each step */
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

/** The arguments on one line: a single one without its name. @param {Record<string, any>} args */
function summaryOf(args) {
  const entries = entriesOf(args);
  const text = entries.length === 1 ? brief(entries[0][1]) : entries.map(([name, value]) => `${name}: ${brief(value)}`).join('  ');
  return text.length > BRIEF_CHARS ? `${text.slice(0, BRIEF_CHARS)}…` : text;
}

/** What came of it, in a few characters: lines changed, rows found, pictures. @param {Envelope | null | undefined} envelope */
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

/** Why it failed, in one line; empty: it did not. @param {import('../conversation/items.js').ChatCall} call */
export function reasonOf({state, result}) {
  if (state !== 'failed' && state !== 'interrupted') return '';
  const [line] = (result?.error?.message ?? '').trim().split('\n');
  return line || result?.error?.type || '';
}

/** Whether the result shows what was changed. @param {Envelope | null | undefined} envelope */
export const holdsDiffOf = (envelope) => Boolean(diffIn(envelope));

/** Whether a result is better seen than told. @param {Envelope | null | undefined} envelope */
export function holdsPicture(envelope) {
  return Boolean(envelope?.ok && (envelope.content?.some(({type}) => type === 'image') || diffIn(envelope)));
}

/** @param {Envelope | null | undefined} envelope @returns {string} */
function diffIn(envelope) {
  const texts = (envelope?.content ?? []).map((block) => (block.type === 'text' ? block.text : ''));
  return texts.find(holdsDiff) ?? diffsIn(envelope?.data)[0] ?? '';
}

/** What a value holds, without the signs of JSON. @param {any} value @returns {string} */
function brief(value) {
  if (typeof value === 'string' && value.trim().includes('\n')) return '…'; // lines read badly on one line
  if (value !== null && typeof value === 'object') return Object.values(value).map(brief).filter(Boolean).join(' · ');
  return String(value ?? '').replaceAll(/\s+/g, ' ').trim();
}
