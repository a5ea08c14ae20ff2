/** What waits for a person: how much of it, and which calls. What they are stands in the approval view, on an origin of its own. */
import {client} from '../../client/client.js';
import {Store} from '../../base/store.js';

/** The origin of the approval view; empty: there is none, and the terminal of the server asks. */
export const approvalOrigin = document.querySelector('meta[name="agentcore-approval-origin"]')?.getAttribute('content') ?? '';

/** A timer cannot be longer, and need not be: what waits expires sooner. */
const LONGEST_MS = 2 ** 31 - 1;

class Approvals extends Store {
  constructor() {
    super();
    /** Ids of all that waits. @type {Set<string>} */
    this._ids = new Set();
    /** Calls that wait. @type {Set<string>} */
    this.calls = new Set();
    /** Calls that a chat in view asks about itself. @type {Set<string>} */
    this.inChats = new Set();
    /** Whether what waits is known. */
    this.isLoaded = false;
    this._loads = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this._timer = undefined;
    for (const pattern of ['approval.*', 'policy.*', 'pairing.*', 'events.reset']) client.on(pattern, () => void this.load());
    client.on('connection', (connection) => { if (connection === 'open') void this.load(); });
  }

  /** How much waits. */
  get total() {
    return this._ids.size;
  }

  /** How much waits that no chat in view asks about. */
  get count() {
    return this.total - [...this.inChats].filter((id) => this.calls.has(id)).length;
  }

  /** A chat in view asks about a call itself, until what this gives is called. @param {string} callId */
  showInChat(callId) {
    this.inChats.add(callId);
    this.notify();
    return () => {
      this.inChats.delete(callId);
      this.notify();
    };
  }

  async load() {
    const number = ++this._loads;
    try {
      const {calls, changes, pairings, now} = await client.get('/api/approvals');
      if (number !== this._loads) return; // a later answer is on its way
      // calls wait without a limit, and so do some changes
      const ends = [...changes, ...pairings].flatMap(({expiresAt}) => expiresAt ?? []);
      this._wakeAt(Math.min(...ends) - now);
      this._keep(calls.map((/** @type {any} */ {callId}) => callId), [...changes, ...pairings].map(({changeId, pairingId}) => changeId ?? pairingId));
    } catch {
      // the connection's own state tells that the server is away, and its return loads this again
    }
  }

  /** @param {string[]} calls @param {string[]} others */
  _keep(calls, others) {
    const ids = new Set([...calls, ...others]);
    if (this.isLoaded && ids.size === this.total && [...ids].every((id) => this._ids.has(id))) return;
    this.isLoaded = true;
    [this._ids, this.calls] = [ids, new Set(calls)];
    this.notify();
  }

  /** @param {number} leftMs */
  _wakeAt(leftMs) {
    clearTimeout(this._timer);
    if (leftMs < LONGEST_MS) this._timer = setTimeout(() => void this.load(), Math.max(leftMs, 0) + 100);
  }
}

export const approvals = new Approvals();
