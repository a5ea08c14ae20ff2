/** Tracks what the calls of a module's element wait for, so that it is shown wherever they were made. */
import {client} from '../client/client.js';
import {Store} from '../base/store.js';

/** @typedef {'approval' | 'turn'} Wait  the user's approval, or the queue slot of what the call acts on */

const SAID_AFTER_MS = 500; // most calls start at once
const STARTED_KEPT = 50;

export class CallWaits extends Store {
  constructor() {
    super();
    /** @type {Map<symbol, {callId: string, wait: Wait | null}>} */
    this._calls = new Map();
    /** Started calls, in case the event arrives before the response with the call's ID. @type {string[]} */
    this._started = [];
    this._end = client.on('call.started', ({callId}) => this._begin(callId));
  }

  /** The reason why calls are waiting; approval takes precedence. @returns {Wait | null} */
  get wait() {
    const waits = [...this._calls.values()].map(({wait}) => wait);
    return waits.includes('approval') ? 'approval' : waits.includes('turn') ? 'turn' : null;
  }

  /**
   * Track a call that is about to be made.
   * @param {import('../client/client.js').CallOptions} options
   * @returns {{options: import('../client/client.js').CallOptions, done: () => void}} the options for the call, and the function to call when it has ended
   */
  follow(options) {
    const key = Symbol('call');
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    this._calls.set(key, {callId: '', wait: null});
    const done = () => {
      clearTimeout(timer);
      this._calls.delete(key);
      this.notify();
    };
    return {done, options: {
      ...options,
      onAccepted: (callId) => {
        options.onAccepted?.(callId);
        if (this._started.includes(callId)) return;
        this._put(key, callId, null);
        timer = setTimeout(() => { if (this._calls.get(key)?.wait === null && !this._started.includes(callId)) this._put(key, callId, 'turn'); }, SAID_AFTER_MS);
      },
      onApproval: (approval) => {
        options.onApproval?.(approval);
        clearTimeout(timer);
        this._put(key, approval.callId, 'approval');
      },
    }};
  }

  close() {
    this._end();
    this._calls.clear();
  }

  /** @param {symbol} key @param {string} callId @param {Wait | null} wait */
  _put(key, callId, wait) {
    if (!this._calls.has(key)) return;
    this._calls.set(key, {callId, wait});
    this.notify();
  }

  /** @param {string} callId */
  _begin(callId) {
    this._started = [...this._started, callId].slice(-STARTED_KEPT);
    for (const [key, call] of this._calls) {
      if (call.callId === callId) this._put(key, callId, null);
    }
  }
}
