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
    this._notifying = new Soon(() => this.notify(), SHOWN_AFTER_MS + 20);
    /** @type {(() => void)[]} */
    this._ends = [];
  }

  /** Calls that have been running for `SHOWN_AFTER_MS`, newest first. @returns {RunningCall[]} */
  get calls() {
    const shownBefore = Date.now() - SHOWN_AFTER_MS;
    return [...this._calls.values()].filter(({time_ms}) => time_ms <= shownBefore).reverse();
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
      client.on('call.started', (event) => this._onStarted(event)),
      client.on('call.progress', (event) => this._onProgress(event)),
      client.on('call.finished', ({callId}) => this._onFinished(callId)),
      client.on('approval.*', () => void this.load()),
      client.on('events.reset', () => void this.load()),
      client.on('connection', (connection) => { if (connection === 'open') void this.load(); }),
    ];
    void this.load();
  }

  _stop() {
    for (const end of this._ends) end();
    this._notifying.end();
    this._calls.clear();
  }

  /** Load what events do not carry: the arguments and the caller. */
  async load() {
    try {
      const {calls} = await client.get('/api/calls/on-the-way');
      this._calls = new Map(calls.toReversed().map((/** @type {RunningCall} */ call) => [call.call_id, {...this._calls.get(call.call_id), ...call}]));
      this.notify();
    } catch {
      // the connection state shows that the server is unreachable; reconnecting loads this again
    }
  }

  /** @param {{callId: string, tool: string, module: string, sessionId: string, time: number}} event */
  _onStarted({callId, tool, module, sessionId, time}) {
    const known = this._calls.get(callId);
    this._calls.set(callId, {
      parent_call_id: null, principal_kind: '', arguments: '', ...known,
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

export const runningCalls = new RunningCalls();
