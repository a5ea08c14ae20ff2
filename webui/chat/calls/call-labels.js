/** A call in few words: what it is about, and what came of it. */
import {formatNumber, t} from '../../base/i18n.js';
import {holdsDiff, parseDiff} from '../../ui/content/unified-diff.js';

/** @typedef {import('../../client/client.js').Envelope} Envelope */

const BRIEF_CHARS = 160;

/** The arguments on one line: a single one without its name. @param {Record<string, any>} args */
export function summaryOf(args) {
  const entries = Object.entries(args).filter(([, value]) => value !== null && value !== undefined);
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
  const parts = envelope?.data && typeof envelope.data === 'object' ? Object.values(envelope.data) : [];
  return [...texts, ...parts].find((part) => typeof part === 'string' && holdsDiff(part)) ?? '';
}

/** @param {any} value */
function brief(value) {
  if (typeof value === 'string' && value.trim().includes('\n')) return '…'; // lines read badly on one line
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.replaceAll(/\s+/g, ' ').trim();
}
