/** Permission of this page to act through a module's own sockets, such as typing into a terminal or clicking in a browser. Watching is always allowed. */
import {client} from '../client/client.js';
import {Store} from '../base/store.js';

/** @typedef {'unknown' | 'granted' | 'needed' | 'waiting' | 'refused' | 'expired'} ControlState */

const LATE_MS = 1000;

export class LiveControl extends Store {
  /** @param {string} name  the module's name */
  constructor(name) {
    super();
    this._path = `/api/live-control/${encodeURIComponent(name)}`;
    /** @type {ControlState} */
    this.state = 'unknown';
    this._changeId = '';
    /** The last decision received, which may arrive before the response that identifies the pending request. */
    this._heard = {changeId: '', outcome: ''};
    /** @type {((granted: boolean) => void)[]} */
    this._waiters = [];
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this._timer = undefined;
    const look = () => void this._look();
    this._ends = [
      client.on('policy.decided', (decision) => this._hear(decision)),
      client.on('module.stateChanged', look),
      client.on('events.reset', look),
      client.on('connection', (connection) => { if (connection === 'open') look(); }),
    ];
    look();
  }

  get isGranted() {
    return this.state === 'granted';
  }

  /** Ask the user for permission if needed, and wait for the decision. @returns {Promise<boolean>} whether this page may act */
  async request() {
    if (!this.isGranted && this.state !== 'waiting') this._take(await client.post(this._path), true);
    if (this.state !== 'waiting') return this.isGranted;
    return new Promise((resolve) => { this._waiters.push(resolve); });
  }

  close() {
    clearTimeout(this._timer);
    for (const end of this._ends.splice(0)) end();
    this._answer(false);
  }

  async _look() {
    try {
      this._take(await client.get(this._path), false);
    } catch {
      // the connection state shows that the server is unreachable; if the module is gone, the view goes with it
    }
  }

  /** @param {{state: ControlState, changeId?: string, expiresAt?: number}} answer @param {boolean} isRequested */
  _take({state, changeId = '', expiresAt = 0}, isRequested) {
    clearTimeout(this._timer);
    if (state === 'waiting') {
      this._changeId = changeId;
      this._timer = setTimeout(() => void this._look(), Math.max(0, expiresAt - Date.now()) + LATE_MS);
    }
    if (changeId && changeId === this._heard.changeId) this._become(outcomeState(this._heard.outcome));
    else if (state !== 'needed' || isRequested) this._become(state);
    else if (this.state === 'waiting') this._become('expired'); // its outcome was not received
    else if (this.state === 'unknown' || this.isGranted) this._become(state);
  }

  /** @param {{changeId: string, outcome: string}} decision */
  _hear({changeId, outcome}) {
    this._heard = {changeId, outcome};
    if (this.state === 'waiting' && changeId === this._changeId) this._become(outcomeState(outcome));
  }

  /** @param {ControlState} state */
  _become(state) {
    if (state === this.state) return;
    this.state = state;
    if (state !== 'waiting') {
      clearTimeout(this._timer);
      this._answer(this.isGranted);
    }
    this.notify();
  }

  /** @param {boolean} isGranted */
  _answer(isGranted) {
    for (const answer of this._waiters.splice(0)) answer(isGranted);
  }
}

/** @param {string} outcome @returns {ControlState} */
function outcomeState(outcome) {
  if (outcome === 'applied') return 'granted';
  return outcome === 'expired' ? 'expired' : 'refused';
}
