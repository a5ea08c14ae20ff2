/** Number and ids of the pending requests. Their contents are shown only in the approval view, which has its own origin. */
import {client} from '../../client/client.js';
import {Store} from '../../base/store.js';

/** Origin of the approval view; empty: there is none, and the server's terminal asks. */
export const approvalOrigin = document.querySelector('meta[name="agentcore-approval-origin"]')?.getAttribute('content') ?? '';

/** Maximum delay of a timer; requests expire sooner. */
const LONGEST_MS = 2 ** 31 - 1;

class Approvals extends Store {
  constructor() {
    super();
    /** Ids of all pending requests. @type {Set<string>} */
    this._ids = new Set();
    /** Ids of pending calls, and of questions of tools. @type {Set<string>} */
    this.calls = new Set();
    /** Ids of calls that a visible chat asks about itself. @type {Set<string>} */
    this.inChats = new Set();
    /** True once the pending requests are loaded. */
    this.isLoaded = false;
    this._loads = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this._timer = undefined;
    for (const pattern of ['approval.*', 'policy.*', 'pairing.*', 'events.reset']) client.on(pattern, () => void this.load());
    client.on('connection', (connection) => { if (connection === 'open') void this.load(); });
  }

  /** Number of pending requests. */
  get total() {
    return this._ids.size;
  }

  /** Number of pending requests that no visible chat asks about. */
  get count() {
    return this.total - [...this.inChats].filter((id) => this.calls.has(id)).length;
  }

  /** Mark a call as shown by a visible chat, until the returned function is called. @param {string} callId */
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
      const {calls, changes, pairings, questions = [], now} = await client.get('/api/approvals');
      if (number !== this._loads) return; // a newer request is in flight
      // calls and some changes do not expire
      const ends = [...changes, ...pairings, ...questions].flatMap(({expiresAt}) => expiresAt ?? []);
      this._wakeAt(Math.min(...ends) - now);
      this._keep([...calls, ...questions].map((/** @type {any} */ {callId, questionId}) => callId ?? questionId), [...changes, ...pairings].map(({changeId, pairingId}) => changeId ?? pairingId));
    } catch {
      // the connection state shows that the server is unreachable; this is loaded again on reconnect
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
