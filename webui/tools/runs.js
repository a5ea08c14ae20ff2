/** Calls made from this page, running and finished, stored while the tab is open. */
import {Store} from '../base/store.js';
import {ApiError, client} from '../client/client.js';

/**
 * @typedef {object} Run
 * @property {number} id
 * @property {string} tool
 * @property {Record<string, any>} args
 * @property {Record<string, any>} shownArgs   Without secrets.
 * @property {string} sessionId
 * @property {number | null} timeoutMs
 * @property {string} [host]                   Host on another machine; absent in runs stored by an earlier version of the page.
 * @property {number} startedAt                Milliseconds since 1970.
 * @property {number | null} durationMs        As measured in the page.
 * @property {'running' | 'done' | 'lost'} state  `lost`: the page was reloaded before the call ended.
 * @property {string} callId
 * @property {boolean} isCancelling
 * @property {{fraction?: number, message?: string} | null} progress
 * @property {{reason: string} | null} approval  Set while the call waits for approval.
 * @property {import('../client/client.js').Envelope | null} envelope
 */

const KEY = 'agentcore.runs';
const KEPT = 30;
const RESULT_CHARS = 40_000; // larger results do not survive a reload

class Runs extends Store {
  constructor() {
    super();
    /** @type {Run[]} The newest run first. */
    this._runs = restored();
    this._next = Math.max(0, ...this._runs.map(({id}) => id)) + 1;
    /** @type {Map<number, AbortController>} */
    this._endings = new Map();
    client.on('approval.decided', ({callId}) => this._onDecided(callId));
    this._isLeaving = false;
    // unloading the page aborts its requests, which does not mean that the calls failed
    window.addEventListener('pagehide', () => { this._isLeaving = true; });
    window.addEventListener('pageshow', () => { this._isLeaving = false; });
  }

  /** Return the runs of a tool, newest first. @param {string} tool */
  of(tool) {
    return this._runs.filter((run) => run.tool === tool);
  }

  /** Return the newest run of each tool, for at most `limit` tools. @param {number} limit */
  recent(limit) {
    const seen = new Set();
    return this._runs.filter(({tool}) => !seen.has(tool) && seen.add(tool)).slice(0, limit);
  }

  /**
   * Call a tool; its run is listed at once and updated until the call ends.
   * @param {Pick<Run, 'tool' | 'args' | 'shownArgs' | 'sessionId' | 'timeoutMs' | 'host'>} request
   * @returns {Run}
   */
  start(request) {
    /** @type {Run} */
    const run = {
      ...request, id: this._next++, startedAt: Date.now(), durationMs: null, state: 'running', callId: '', isCancelling: false,
      progress: null, approval: null, envelope: null,
    };
    this._runs = [run, ...this._runs].filter((one, index) => index < KEPT || one.state === 'running');
    void this._follow(run);
    this._publish();
    return run;
  }

  /** Cancel a call; its envelope reports the cancellation. @param {number} id */
  cancel(id) {
    this._change(id, {isCancelling: true});
    this._endings.get(id)?.abort();
  }

  /** Remove the finished runs of a tool. @param {string} tool */
  clear(tool) {
    this._runs = this._runs.filter((run) => run.tool !== tool || run.state === 'running');
    this._publish();
  }

  /** @param {Run} run */
  async _follow({id, tool, args, sessionId, timeoutMs, host}) {
    const [ending, began] = [new AbortController(), performance.now()];
    this._endings.set(id, ending);
    const envelope = await client.call(tool, args, {
      sessionId: sessionId || undefined,
      timeoutMs: timeoutMs ?? undefined,
      host: host || undefined,
      signal: ending.signal,
      onAccepted: (callId) => this._change(id, {callId}),
      onProgress: (progress) => this._change(id, {progress, approval: null}, false),
      onApproval: (approval) => this._change(id, {approval}, false),
    }).catch(asEnvelope);
    this._endings.delete(id);
    const callId = envelope.callId || (this._runs.find((run) => run.id === id)?.callId ?? '');
    this._change(id, {envelope, callId, state: 'done', durationMs: performance.now() - began, progress: null, approval: null});
  }

  /** Clear a pending approval: the call runs now, or its result follows shortly. @param {string} callId */
  _onDecided(callId) {
    const run = this._runs.find((one) => one.callId === callId && one.approval !== null);
    if (run) this._change(run.id, {approval: null}, false);
  }

  /** @param {number} id @param {Partial<Run>} change @param {boolean} [isKept]  False for transient changes, which are not stored. */
  _change(id, change, isKept = true) {
    this._runs = this._runs.map((run) => (run.id === id ? {...run, ...change} : run));
    this._publish(isKept);
  }

  _publish(isKept = true) {
    this.notify();
    if (isKept && !this._isLeaving) keep(this._runs);
  }
}

/** Convert a request that was rejected before it became a call into a failed envelope. @param {unknown} error */
function asEnvelope(error) {
  const {type, message, context, retryable} = error instanceof ApiError ? error : new ApiError({type: 'unreachable', message: String(error)});
  return {ok: false, callId: '', error: {type, message, context, retryable}};
}

/** @param {Run[]} runs */
function keep(runs) {
  const small = runs.slice(0, KEPT).map((run) => {
    const isLarge = JSON.stringify(run.envelope ?? null).length > RESULT_CHARS;
    return {...run, args: run.shownArgs, envelope: isLarge ? null : run.envelope};
  });
  try {
    sessionStorage.setItem(KEY, JSON.stringify(small));
  } catch {
    // the browser's storage is full: the runs remain in the page only
  }
}

/** @returns {Run[]} */
function restored() {
  try {
    /** @type {Run[]} */
    const runs = JSON.parse(sessionStorage.getItem(KEY) ?? '[]');
    return runs.map((run) => (run.state === 'running' ? {...run, state: 'lost', progress: null, approval: null} : run));
  } catch {
    return []; // written by another version of the page
  }
}

export const runs = new Runs();
