/** Running calls and their progress. */
import {Soon} from '../base/throttle.js';
import {Store} from '../base/store.js';
import {client} from '../client/client.js';

/**
 * @typedef {object} RunningCall
 * @property {string} call_id
 * @property {string | null} parent_call_id
 * @property {number} time_ms
 * @property {string} tool
 * @property {string} module
 * @property {string} session_id
 * @property {string} principal_kind
 * @property {string} arguments
 * @property {'running' | 'waiting'} state
 * @property {number} shown_from_ms  by the clock of the browser, which may differ from the server's
 * @property {number | undefined} [fraction]
 * @property {string | undefined} [message]
 */

/** Calls that end sooner are not shown, because they would only flicker. */
const SHOWN_AFTER_MS = 400;

class RunningCalls extends Store {
  constructor() {
    super();
    /** @type {Map<string, RunningCall>} */
    this._calls = new Map();
    this._users = 0;
    /** The changes that were reported while the calls are loaded, which may be older. @type {(() => void)[] | null} */
    this._during = null;
    this._notifying = new Soon(() => this._notify(), SHOWN_AFTER_MS + 20);
    /** @type {(() => void)[]} */
    this._ends = [];
  }

  /** Calls that have been running for `SHOWN_AFTER_MS`, newest first. @returns {RunningCall[]} */
  get calls() {
    const now = Date.now();
    return [...this._calls.values()].filter(({shown_from_ms}) => shown_from_ms <= now).reverse();
  }

  /** @param {string} callId */
  find(callId) {
    return this._calls.get(callId) ?? null;
  }

  /** Subscribe to changes; calls are followed while there are subscribers. @param {() => void} handler @returns {() => void} */
  subscribe(handler) {
    const end = super.subscribe(handler);
    if (this._users++ === 0) this._start();
    return () => {
      end();
      if (--this._users === 0) this._stop();
    };
  }

  _start() {
    this._ends = [
      client.on('call.started', (event) => this._change(() => this._onStarted(event))),
      client.on('call.progress', (event) => this._change(() => this._onProgress(event))),
      client.on('call.finished', ({callId}) => this._change(() => this._onFinished(callId))),
      client.on('approval.*', () => void this.load()),
      client.on('events.reset', () => void this.load()),
      client.on('connection', (connection) => { if (connection === 'open') void this.load(); }),
    ];
    void this.load();
  }

  _stop() {
    for (const end of this._ends) end();
    this._notifying.end();
    this._during = null;
    this._calls.clear();
  }

  /** Load what events do not carry: the arguments and the caller. */
  async load() {
    /** @type {(() => void)[]} */
    const during = this._during = [];
    try {
      const {calls} = await client.get('/api/calls/on-the-way');
      if (during !== this._during) return; // a newer request is in flight, or nobody is interested any more
      this._calls = new Map(calls.toReversed().map((/** @type {RunningCall} */ call) => {
        const known = this._calls.get(call.call_id);
        return [call.call_id, {...known, ...call, shown_from_ms: known?.shown_from_ms ?? shownFrom(call.time_ms)}];
      }));
      for (const change of during) change();
      this._notify();
    } catch {
      // the connection state shows that the server is unreachable; reconnecting loads this again
    }
    if (during === this._during) this._during = null;
  }

  /** @param {() => void} change */
  _change(change) {
    change();
    this._during?.push(change);
  }

  /** Notify now, and again for the calls that are too new to be shown. */
  _notify() {
    this.notify();
    if (this._calls.size > this.calls.length) this._notifying.ask();
  }

  /** @param {{callId: string, tool: string, module: string, sessionId: string, time: number}} event */
  _onStarted({callId, tool, module, sessionId, time}) {
    const known = this._calls.get(callId);
    this._calls.set(callId, {
      parent_call_id: null, principal_kind: '', arguments: '', shown_from_ms: shownFrom(time), ...known,
      call_id: callId, tool, module, session_id: sessionId, time_ms: known?.time_ms ?? time, state: 'running',
    });
    this._notifying.ask();
  }

  /** @param {{callId: string, fraction?: number, message?: string}} event */
  _onProgress({callId, fraction, message}) {
    const known = this._calls.get(callId);
    if (!known) return;
    this._calls.set(callId, {...known, fraction: fraction ?? known.fraction, message: message ?? known.message});
    this.notify();
  }

  /** @param {string} callId */
  _onFinished(callId) {
    if (this._calls.delete(callId)) this.notify();
  }
}

/** @param {number} timeMs  when the call started, by the clock of the server */
function shownFrom(timeMs) {
  return Math.min(timeMs, Date.now()) + SHOWN_AFTER_MS;
}

export const runningCalls = new RunningCalls();
