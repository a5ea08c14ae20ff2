/** How many calls, changes and clients wait for a person. What they are stands in the approval view, on an origin of its own. */
import {client} from '../../client/client.js';
import {Store} from '../../base/store.js';

/** The origin of the approval view; empty: there is none, and the terminal of the server asks. */
export const approvalOrigin = document.querySelector('meta[name="agentcore-approval-origin"]')?.getAttribute('content') ?? '';

/** A timer cannot be longer, and need not be: what waits expires sooner. */
const LONGEST_MS = 2 ** 31 - 1;

class Approvals extends Store {
  constructor() {
    super();
    this.count = 0;
    /** @type {Set<string>} */
    this._calls = new Set();
    this._loads = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this._timer = undefined;
    for (const pattern of ['approval.*', 'policy.*', 'pairing.*', 'events.reset']) client.on(pattern, () => void this.load());
    // a call that was withdrawn leaves without a decision
    client.on('call.finished', ({callId}) => { if (this._calls.has(callId)) void this.load(); });
    client.on('connection', (connection) => { if (connection === 'open') void this.load(); });
  }

  async load() {
    const number = ++this._loads;
    try {
      const {calls, changes, pairings, now} = await client.get('/api/approvals');
      if (number !== this._loads) return; // a later answer is on its way
      this._calls = new Set(calls.map((/** @type {any} */ {callId}) => callId));
      this._wakeAt(Math.min(...[...calls, ...changes, ...pairings].map(({expiresAt}) => expiresAt - now)));
      const count = calls.length + changes.length + pairings.length;
      if (count === this.count) return;
      this.count = count;
      this.notify();
    } catch {
      // the connection's own state tells that the server is away, and its return loads this again
    }
  }

  /** @param {number} leftMs */
  _wakeAt(leftMs) {
    clearTimeout(this._timer);
    if (leftMs < LONGEST_MS) this._timer = setTimeout(() => void this.load(), Math.max(leftMs, 0) + 100);
  }
}

export const approvals = new Approvals();
