/**
 * Records the server's calls, so that none runs twice: each is stored before anything is done, and again with its result.
 * A call that was running when the worker ended is `interrupted`: how far it got is unknown.
 */
import {Stored} from './stored.js';

/**
 * @typedef {{type: string, message: string}} CallError
 * @typedef {{ok: true, result: any} | {ok: false, error: CallError}} Outcome
 * @typedef {{callId: string, shareId: string, at: number, outcome: Outcome | null}} Entry
 */

/** The server asks for a lost answer for 30 seconds; calls are remembered longer, so that none is mistaken for a new one. */
const KEPT_MS = 10 * 60_000;
/** As many as a hello may contain. */
const KEPT = 64;
/** `storage.session` is limited to 10 MB in total, and a character may take three bytes. */
const OUTCOME_CHARS = 32 * 1024;
/** The limit for all outcomes in one message, which may have 1 MiB. */
const HELLO_CHARS = 256 * 1024;
const TOO_LARGE = 'The answer was too large to be kept while the connection was lost. Ask for it again.';
const WORKER_ENDED = 'The browser ended the extension in the middle of this call. Whether it was carried out is not known.';

/** @type {Stored<Record<string, Entry>>} */
const journal = new Stored('journal', {});

/**
 * Record that a call starts.
 * @param {string} callId @param {string} shareId
 * @returns {Promise<Entry | null>}  the entry of a call that was started before and must not run again; null: it is new
 */
export function begin(callId, shareId) {
  return journal.change((entries) => {
    if (entries[callId]) return entries[callId];
    forgetOld(entries);
    entries[callId] = {callId, shareId, at: Date.now(), outcome: null};
    return null;
  });
}

/** Record the outcome of a call. @param {string} callId @param {Outcome} outcome */
export function finish(callId, outcome) {
  const isLarge = JSON.stringify(outcome).length > OUTCOME_CHARS;
  return journal.change((entries) => {
    const entry = entries[callId];
    if (entry) entry.outcome = isLarge ? interrupted(TOO_LARGE) : outcome;
  });
}

/** Mark the calls that were running when the worker ended as interrupted. */
export function interruptBegun() {
  return journal.change((entries) => {
    for (const entry of Object.values(entries)) entry.outcome ??= interrupted(WORKER_ENDED);
  });
}

/**
 * Return the newest outcomes of some shares, for a server that may have lost them with the connection. It asks for others again.
 * @param {Set<string>} shareIds
 */
export async function outcomes(shareIds) {
  const found = Object.values(await journal.read()).filter(({shareId, outcome}) => outcome && shareIds.has(shareId)).sort((one, other) => other.at - one.at);
  let chars = 0;
  return found.flatMap(({callId, outcome}) => {
    chars += JSON.stringify(outcome).length;
    return chars > HELLO_CHARS ? [] : [{callId, .../** @type {Outcome} */ (outcome)}];
  });
}

/** @param {string} message @returns {Outcome} */
function interrupted(message) {
  return {ok: false, error: {type: 'interrupted', message}};
}

/** @param {Record<string, Entry>} entries */
function forgetOld(entries) {
  const ended = Object.values(entries).filter(({outcome}) => outcome).sort((one, other) => one.at - other.at);
  const tooMany = Object.keys(entries).length - KEPT + 1;
  ended.forEach(({callId, at}, index) => {
    if (index < tooMany || at < Date.now() - KEPT_MS) delete entries[callId];
  });
}
