/** Texts and icons for rows of the call log. */
import {sessionList} from '../chat/sessions/session-list.js';
import {deciderText} from '../tools/decider-text.js';
import {hasText, t} from '../base/i18n.js';
import {MASK} from '../schema/secrets.js';

/** @typedef {import('./call-log.js').CallRow} CallRow */
/** @typedef {'ok' | 'warn' | 'danger' | 'accent' | ''} Tone */

/** Outcomes that are intended or pending, not failures of a tool. */
const MILD = new Set(['cancelled', 'approval_denied', 'approval_required', 'module_stopping', 'stopped', 'interrupted']);

/** Return the text of an outcome; an unknown error type is returned unchanged. @param {string} outcome */
export function outcomeText(outcome) {
  const key = `activity.outcome.${outcome}`;
  return hasText(key) ? t(key) : outcome;
}

/** Return the text of a row. @param {Pick<CallRow, 'kind' | 'outcome' | 'decision'>} row */
export function rowText({kind, outcome, decision}) {
  if (kind === 'call') return outcomeText(outcome);
  const type = kind === 'decision' ? decision : outcome;
  const key = `activity.${kind}.${type}`;
  return hasText(key) ? t(key) : t(`activity.${kind}.other`, {type});
}

/** @param {Pick<CallRow, 'kind' | 'outcome' | 'decision'>} row @returns {{icon: string, tone: Tone}} */
export function rowSign({kind, outcome, decision}) {
  if (kind === 'notice') return outcome === 'rows_lost' ? {icon: 'triangle-alert', tone: 'danger'} : {icon: 'info', tone: 'accent'};
  if (kind === 'decision') return decision === 'approve' ? {icon: 'shield', tone: 'ok'} : {icon: 'shield-alert', tone: 'warn'};
  if (outcome === 'ok') return {icon: 'check', tone: 'ok'};
  if (outcome === 'running' || outcome === 'executing') return {icon: 'loader-circle', tone: 'accent'};
  if (outcome === 'waiting') return {icon: 'clock', tone: 'warn'};
  if (outcome === 'cancelled') return {icon: 'ban', tone: 'warn'};
  return MILD.has(outcome) ? {icon: 'circle-alert', tone: 'warn'} : {icon: 'circle-x', tone: 'danger'};
}

/** Return the text for a caller; an MCP client is shown by its name. @param {string} kind @param {string} [id] */
export function callerText(kind, id = '') {
  if (kind === 'mcp' && id) return id;
  const key = `activity.by.${kind}`;
  return hasText(key) ? t(key) : kind;
}

/** Return the title of a chat; '' if the session is no chat, has no title, or is not among the last chats. @param {string} sessionId */
export function chatTitle(sessionId) {
  return sessionList.find(sessionId)?.title ?? '';
}

/** Return who decided what: “You approved, in the approval view”. @param {Pick<CallRow, 'kind' | 'outcome' | 'decision' | 'decided_by'>} row */
export function decisionText(row) {
  const [kind, name = ''] = row.decided_by.split(/:(.*)/s);
  const key = `activity.${row.decision}.${kind}`;
  if (hasText(key)) return t(key, {name});
  return row.decided_by ? `${rowText(row)} · ${deciderText(row.decided_by)}` : rowText(row);
}

/** Return the text for who allowed a call. @param {Pick<CallRow, 'decision' | 'decided_by' | 'outcome'>} row */
export function allowedText({decision, decided_by: by, outcome}) {
  if (by === 'own_call') return t('activity.allowed.own_call');
  if (by === 'session') return t('activity.allowed.session');
  if (!decision) return t('activity.allowed.none');
  if (by.startsWith('grant:')) return t('activity.allowed.grant');
  if (decision === 'allow') return t('activity.allowed.rule', {by});
  if (decision === 'deny') return t('activity.allowed.denied', {by});
  return by ? decisionText({kind: 'decision', outcome, decision: outcome === 'approval_denied' ? 'reject' : 'approve', decided_by: by}) : t('activity.allowed.asked');
}

/** Return what a failure means and how to resolve it, or '' if the outcome is unknown. @param {string} outcome */
export function explanation(outcome) {
  const key = `activity.explain.${outcome}`;
  return hasText(key) ? t(key) : '';
}

/**
 * Format the recorded arguments for display: indented, or as they are if they were truncated.
 * @param {string} text
 */
export function argumentsText(text) {
  try {
    return {text: JSON.stringify(JSON.parse(text), null, 2), isCut: false};
  } catch {
    return {text, isCut: text.endsWith('…')};
  }
}

/** Return the recorded arguments without masked values, or null if the record is truncated. @param {string} text */
export function recordedArguments(text) {
  try {
    return /** @type {Record<string, any>} */ (withoutMasks(JSON.parse(text)));
  } catch {
    return null;
  }
}

/** @param {any} value @returns {any} */
function withoutMasks(value) {
  if (Array.isArray(value)) return value.map(withoutMasks);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== MASK).map(([name, one]) => [name, withoutMasks(one)]));
}
