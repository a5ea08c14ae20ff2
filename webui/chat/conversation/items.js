/**
 * The items of a conversation, as immutable values: each step returns new objects for what changed and the same ones
 * elsewhere, so that only changes are rendered.
 *
 * @typedef {'pending' | 'waiting' | 'running' | 'done' | 'failed' | 'rejected' | 'interrupted' | 'cancelled'} CallState
 * @typedef {object} ChatCall
 * @property {string} toolId
 * @property {string} toolName
 * @property {Record<string, any>} arguments
 * @property {'server' | 'client'} kind
 * @property {string} [words]  the summary from its tool, a line for each step
 * @property {CallState} state
 * @property {string} [callId]
 * @property {import('../../client/client.js').Envelope | null} [result]
 * @property {string} [answeredBy]
 * @property {boolean | null} [needsApproval]  of a client's call: true if its user is asked before it runs
 * @property {string} [client]  of a client's call: the paired client that runs it
 * @property {{fraction?: number, message?: string}} [progress]
 * @property {ChatItem[]} [thread]  the items of the sub-agent that this call started
 * @typedef {{shortenedResults: number, cutParts: number, replacedMessages: number, summary?: string, tokensBefore: number, tokensAfter: number}} Compaction
 * @typedef {{url: string, title: string, elements: number, selectedChars: number}} SentPage
 * @typedef {object} ChatItem
 * @property {string} key  stays the same from the first token to the stored message
 * @property {number | null} number  of the stored message
 * @property {number} time
 * @property {'user' | 'assistant' | 'notice'} role
 * @property {string} text
 * @property {string} [thinking]
 * @property {ChatCall[]} calls
 * @property {import('../../client/upload.js').Uploaded[]} [attachments]
 * @property {SentPage} [page]  the page that was sent with a user's message
 * @property {import('../../client/client.js').ErrorObject | null} [error]
 * @property {Compaction} [compaction]  what the model receives in a shorter form from here on
 * @property {boolean} [stopped]  the user stopped it before its end
 * @property {object} [thread]  the position of a stored item of a sub-agent
 * @property {boolean} [isLive]  true while it is being written
 * @property {boolean} [isSending]
 */

let made = 0;

/** @param {Partial<ChatItem> & {role: ChatItem['role']}} values @returns {ChatItem} */
export function newItem(values) {
  return {key: `live-${++made}`, number: null, time: Date.now(), text: '', calls: [], ...values};
}

/** Return stored messages as items; those of a sub-agent are inside the call that started it. @param {any[]} stored @returns {ChatItem[]} */
export function storedItems(stored) {
  /** @type {ChatItem[]} */
  let items = stored.filter(({thread}) => !thread).map(storedItem);
  // a sub-agent's step is stored when it ends, after the steps of sub-agents inside it
  const steps = stored.filter(({thread}) => thread).sort((one, other) => one.thread.depth - other.thread.depth || one.number - other.number);
  for (const one of steps) {
    items = withChangedCall(items, one.thread.parentToolId, (call) => ({...call, thread: [...call.thread ?? [], storedItem(one)]}));
  }
  return items;
}

/** @param {any} stored @returns {ChatItem} */
export function storedItem(stored) {
  const calls = (stored.calls ?? []).map((/** @type {any} */ call) => storedCall(call));
  return {...stored, key: `n${stored.number}`, time: Number(new Date(stored.time)), text: stored.text ?? '', calls: nested(calls)};
}

/** @param {any} call @returns {ChatCall & {parentToolId?: string | null}} */
function storedCall(call) {
  return {...call, arguments: argumentsOf(call.arguments), state: stateOf(call)};
}

/** @param {(ChatCall & {parentToolId?: string | null})[]} calls @returns {ChatCall[]} */
function nested(calls) {
  const ids = new Set(calls.map(({toolId}) => toolId));
  const childrenOf = (/** @type {string} */ id) => calls.filter(({parentToolId}) => parentToolId === id);
  /** @param {ChatCall} call @returns {ChatCall} */
  const whole = (call) => {
    const children = childrenOf(call.toolId).map(whole);
    return children.length ? {...call, thread: [newItem({role: 'assistant', key: `${call.toolId}-0`, calls: children})]} : call;
  };
  return calls.filter(({parentToolId}) => !parentToolId || !ids.has(parentToolId)).map(whole);
}

/** @param {unknown} given  an object, or its JSON text @returns {Record<string, any>} */
export function argumentsOf(given) {
  if (given !== null && typeof given === 'object') return given;
  try {
    return JSON.parse(String(given || '{}'));
  } catch {
    return {};
  }
}

/** Return the state of a call, from its result if there is one. @param {any} call @returns {CallState} */
export function stateOf({state, result}) {
  if (result) return endOf(result);
  /** @type {Record<string, CallState>} */
  const words = {new: 'pending', cancelled: 'cancelled', waiting: 'waiting', approved: 'running', running: 'running', executing: 'running', rejected: 'rejected', interrupted: 'interrupted', failed: 'failed', done: 'done', settled: 'done'};
  return words[state] ?? 'pending';
}

/** Return how a call ended. @param {import('../../client/client.js').Envelope} envelope @returns {CallState} */
export function endOf({ok, error}) {
  if (ok) return 'done';
  /** @type {Record<string, CallState>} */
  const words = {approval_denied: 'rejected', interrupted: 'interrupted', cancelled: 'cancelled'};
  return words[error?.type ?? ''] ?? 'failed';
}

/** True if a call has ended. @param {ChatCall} call */
export const isOver = ({state}) => !['pending', 'waiting', 'running'].includes(state);

/** Append a chunk of text or of the model's thinking. @param {ChatItem[]} items @param {string} piece @param {number} time @param {'text' | 'thinking'} [place] @returns {ChatItem[]} */
export function withContent(items, piece, time, place = 'text') {
  const last = items.at(-1);
  if (!last || last.role !== 'assistant' || !last.isLive || last.calls.length) return [...items, newItem({role: 'assistant', [place]: piece, time, isLive: true})];
  return items.with(-1, {...last, [place]: (last[place] ?? '') + piece});
}

/** Append a call; one that is already there changes nothing. @param {ChatItem[]} items @param {ChatCall} call @param {number} time */
export function withCall(items, call, time) {
  if (findCall(items, ({toolId}) => toolId === call.toolId)) return items;
  const last = items.at(-1);
  if (!last || last.role !== 'assistant' || !last.isLive) return [...items, newItem({role: 'assistant', calls: [call], time, isLive: true})];
  return items.with(-1, {...last, calls: [...last.calls, call]});
}

/** Append a stored notice; one that is already there changes nothing. @param {ChatItem[]} items @param {any} stored @returns {ChatItem[]} */
export function withNotice(items, stored) {
  if (items.some(({number}) => number === stored.number)) return items;
  return [...withoutLive(items), storedItem({...stored, role: 'notice'})];
}

/** Append the error that ended an answer. @param {ChatItem[]} items @param {import('../../client/client.js').ErrorObject} error @param {number} time @returns {ChatItem[]} */
export function withError(items, error, time) {
  return [...withoutLive(items), newItem({role: 'notice', error, time})];
}

/** Mark all items as no longer being written. @param {ChatItem[]} items */
export function withoutLive(items) {
  return items.some(({isLive}) => isLive) ? items.map((item) => (item.isLive ? {...item, isLive: false} : item)) : items;
}

/** Return the newest call that passes a test, including those in threads. @param {ChatItem[]} items @param {(call: ChatCall) => boolean} test @returns {ChatCall | null} */
export function findCall(items, test) {
  for (let at = items.length - 1; at >= 0; at -= 1) {
    for (const call of items[at].calls.toReversed()) {
      const found = (call.thread && findCall(call.thread, test)) ?? (test(call) ? call : null);
      if (found) return found;
    }
  }
  return null;
}

/** Change one call, wherever it is. @param {ChatItem[]} items @param {string} toolId @param {(call: ChatCall) => ChatCall} change @returns {ChatItem[]} */
export function withChangedCall(items, toolId, change) {
  for (let at = items.length - 1; at >= 0; at -= 1) {
    const calls = changedCalls(items[at].calls, toolId, change);
    if (calls) return items.with(at, {...items[at], calls});
  }
  return items;
}

/** @param {ChatCall[]} calls @param {string} toolId @param {(call: ChatCall) => ChatCall} change */
function changedCalls(calls, toolId, change) {
  for (const [at, call] of calls.entries()) {
    if (call.toolId === toolId) return calls.with(at, change(call));
    if (!call.thread) continue;
    const thread = withChangedCall(call.thread, toolId, change);
    if (thread !== call.thread) return calls.with(at, {...call, thread});
  }
  return null;
}

/**
 * Replace the items that were built from events with the stored messages; items that are shown keep their keys.
 * @param {ChatItem[]} items
 * @param {ChatItem[]} stored  the newest ones, without a gap
 */
export function withStored(items, stored) {
  const first = stored[0]?.number ?? Infinity;
  const before = items.filter(({number}) => number !== null && number < first);
  const kept = items.slice(before.length);
  const unnumbered = kept.filter(({number}) => number === null);
  const known = new Map(kept.map((item) => [item.number, item]));
  const taken = stored.map((item) => {
    const same = known.get(item.number) ?? takeFirst(unnumbered, ({role}) => role === item.role);
    return same ? {...item, key: same.key, calls: item.calls.map((call) => withLive(call, same))} : item;
  });
  // messages that are being sent, and errors that are not stored, stay at the end
  return [...before, ...taken, ...unnumbered.filter(({isSending, error}) => isSending || error)];
}

/** Keep what only the events reported of a call: the thread of its sub-agent, and a result that is not stored yet. @param {ChatCall} call @param {ChatItem} item */
function withLive(call, item) {
  const before = item.calls.find(({toolId}) => toolId === call.toolId);
  if (before?.result && !call.result) return before;
  return before?.thread && !call.thread ? {...call, thread: before.thread} : call;
}

/** @template T @param {T[]} list @param {(one: T) => boolean} test */
function takeFirst(list, test) {
  const at = list.findIndex(test);
  return at < 0 ? undefined : list.splice(at, 1)[0];
}
