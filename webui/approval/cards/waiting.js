/** What waits for a person, as the server says it, and the person's word on it. */
import {client} from '../../client/client.js';
import {Store} from '../../base/store.js';
import {startOver} from '../guard/attention.js';
import {isCallFrame, onlyCall} from '../guard/framing.js';

/**
 * @typedef {{kind: string, id: string, name: string}} Requester  `name`: the title of a chat, the name of a client
 * @typedef {{scope: 'session' | 'always', tool: string, arguments: Record<string, string>}} Offer
 * @typedef {{diff: string | null, words: string, cwd: string | null, isProtected: boolean}} Preview
 * @typedef {{key: string, label: Record<string, string>, values: string[]}} Touched  what the call would touch of one kind
 *
 * @typedef {object} WaitingCall
 * @property {string} callId
 * @property {string} sessionId
 * @property {string} sessionTitle
 * @property {Requester} askedBy
 * @property {string} tool
 * @property {string} description
 * @property {string} module
 * @property {string} moduleTitle
 * @property {string} host  in which it would run; '': in the server
 * @property {boolean} isOnOtherMachine  whether that is another machine
 * @property {import('../../client/tool-list.js').Effect[]} effects
 * @property {boolean} isDestructive
 * @property {string} reason
 * @property {string} rule
 * @property {string | null} untrustedSource
 * @property {Offer[]} offers
 * @property {Record<string, unknown>} arguments
 * @property {any} inputSchema
 * @property {Record<string, import('../../client/translation.js').Translation>} translations  of the tool, by language
 * @property {string} digest
 * @property {Preview | null} preview
 * @property {Touched[]} touches
 * @property {('tool' | 'target' | 'rules')[]} changes  what changed while it waited, so that it is asked about again
 * @property {number} requestedAt
 *
 * @typedef {object} WaitingChange
 * @property {string} changeId
 * @property {string} kind
 * @property {string} subject
 * @property {string[]} paths
 * @property {{file: string, text: string}[]} diff
 * @property {Requester} askedBy
 * @property {number} requestedAt
 * @property {number | null} expiresAt  null: it waits as long as the server runs
 *
 * @typedef {{pairingId: string, name: string, kind: string, origin: string, scopes: string[], expiresAt: number}} WaitingPairing
 */

class WaitingList extends Store {
  constructor() {
    super();
    /** @type {WaitingCall[]} */
    this.calls = [];
    /** @type {WaitingChange[]} */
    this.changes = [];
    /** @type {WaitingPairing[]} */
    this.pairings = [];
    /** Whether what waits is known. */
    this.isLoaded = false;
    /** What the page around this says of itself; null: nothing yet. @type {import('../guard/framing.js').PageState | null} */
    this._page = null;
    /** How far the server's clock is ahead of this browser's. */
    this._aheadMs = 0;
    this._loads = 0;
    for (const pattern of ['approval.*', 'policy.*', 'pairing.*', 'events.reset']) client.on(pattern, () => void this.load());
    client.on('connection', (connection) => {
      if (connection === 'open') void this.load();
      this.notify();
    });
  }

  /** Whether the server can be told of a decision. */
  get isReachable() {
    return isCallFrame ? this._page?.isConnected ?? true : client.connection === 'open';
  }

  /** What the page says: the frame of one call has no event stream of its own. @param {import('../guard/framing.js').PageState} page */
  hear(page) {
    const before = this._page;
    this._page = page;
    if (page.hasMoved) startOver();
    const cameBack = page.isConnected && before?.isConnected === false;
    if (isCallFrame && (cameBack || (this.calls.length > 0 && page.isConnected && !page.waiting.includes(onlyCall)))) void this.load();
    this.notify();
  }

  get count() {
    return this.shownCalls.length + this.changes.length + this.pairings.length;
  }

  /** The calls that are shown here, and not in a chat beside the tray. */
  get shownCalls() {
    return this._page && !onlyCall ? this.calls.filter(({callId}) => !this._page?.elsewhere.includes(callId)) : this.calls;
  }

  /** Milliseconds until a moment of the server's. @param {number} moment */
  leftMs(moment) {
    return moment - Date.now() - this._aheadMs;
  }

  async load() {
    const number = ++this._loads;
    try {
      const {calls, changes, pairings, now} = await client.get('/api/approvals');
      if (number !== this._loads) return; // a later answer is on its way
      this._aheadMs = now - Date.now();
      this._keep(calls, changes, pairings);
      startOver();
      this.notify();
    } catch {
      // the connection's own state tells that the server is away, and its return loads this again
    }
  }

  /** @param {WaitingCall[]} calls @param {WaitingChange[]} changes @param {WaitingPairing[]} pairings */
  _keep(calls, changes, pairings) {
    this.isLoaded = true;
    this.calls = onlyCall ? calls.filter(({callId}) => callId === onlyCall) : calls;
    [this.changes, this.pairings] = onlyCall ? [[], []] : [changes, pairings];
  }

  /** The call as it would be with other arguments. @param {WaitingCall} call @param {Record<string, unknown>} edited @returns {Promise<WaitingCall>} */
  edit(call, edited) {
    return client.post(`/api/approvals/${encodeURIComponent(call.callId)}/edit`, {arguments: edited});
  }

  /** @param {WaitingCall} call @param {{approved: boolean, offer?: number, reason?: string}} word */
  async decide(call, word) {
    const body = {...word, digest: call.digest};
    await client.post(`/api/approvals/${encodeURIComponent(call.callId)}/decision`, body);
    await this.load();
  }

  /** @param {WaitingChange} change @param {boolean} approved */
  decideChange(change, approved) {
    return this._decide(`/api/policy-changes/${encodeURIComponent(change.changeId)}/decision`, {approved});
  }

  /** @param {WaitingPairing} pairing @param {string[]} scopes  none: the client is refused */
  decidePairing(pairing, scopes) {
    return this._decide(`/api/pairings/${encodeURIComponent(pairing.pairingId)}/decision`, {approved: scopes.length > 0, scopes});
  }

  /** @param {string} path @param {Record<string, unknown>} word */
  async _decide(path, word) {
    try {
      await client.post(path, word);
    } finally {
      await this.load();
    }
  }
}

export const waiting = new WaitingList();
