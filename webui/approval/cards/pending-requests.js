/** Pending requests, as reported by the server, and the user's decisions on them. */
import {client} from '../../client/client.js';
import {Store} from '../../base/store.js';
import {startOver} from '../guard/button-arming.js';
import {isCallFrame, onlyCall} from '../guard/framing.js';

/**
 * @typedef {{kind: string, id: string, name: string}} Requester  `name`: the title of a chat, the name of a client
 * @typedef {{scope: 'session' | 'always', tool: string, arguments: Record<string, string>}} Offer
 * @typedef {{callId: string, timeMs: number, tool: string, text: string}} Example  a recorded call
 * @typedef {{diff: string | null, words: string, cwd: string | null, isProtected: boolean}} Preview
 * @typedef {{key: string, label: Record<string, string>, values: string[]}} Touched  values of one kind that the call would touch
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
 * @property {string} host  where it would run; '': in the server
 * @property {boolean} isOnOtherMachine  true if that host is another machine
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
 * @property {('tool' | 'target' | 'rules')[]} changes  what changed while it was pending, so that the user is asked again
 * @property {number} requestedAt
 *
 * @typedef {object} WaitingChange
 * @property {string} changeId
 * @property {string} kind
 * @property {string} subject
 * @property {string[]} paths
 * @property {{file: string, text: string}[]} diff
 * @property {string[]} readingTools  tools that their server says only read, and that may be treated so
 * @property {Requester} askedBy
 * @property {number} requestedAt
 * @property {number | null} expiresAt  null: pending as long as the server runs
 *
 * @typedef {import('../../questions/ac-chat-question.js').Question & {sessionId: string, sessionTitle: string, requestedAt: number}} WaitingQuestion
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
    /** Questions of tools. @type {WaitingQuestion[]} */
    this.questions = [];
    /** True once the pending requests are loaded. */
    this.isLoaded = false;
    /** State reported by the embedding page; null: none yet. @type {import('../guard/framing.js').PageState | null} */
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

  /** True if a decision can be sent to the server. */
  get isReachable() {
    return isCallFrame ? this._page?.isConnected ?? true : client.connection === 'open';
  }

  /** Apply the state reported by the page: the frame of one call has no event stream of its own. @param {import('../guard/framing.js').PageState} page */
  hear(page) {
    const before = this._page;
    this._page = page;
    if (page.hasMoved) startOver();
    const cameBack = page.isConnected && before?.isConnected === false;
    if (isCallFrame && (cameBack || (this.calls.length > 0 && page.isConnected && !page.waiting.includes(onlyCall)))) void this.load();
    this.notify();
  }

  get count() {
    return this.shownCalls.length + this.shownQuestions.length + this.changes.length + this.pairings.length;
  }

  /** Calls to show here: those that no visible chat shows. */
  get shownCalls() {
    return this._page && !onlyCall ? this.calls.filter(({callId}) => !this._page?.elsewhere.includes(callId)) : this.calls;
  }

  /** Questions to show here: those that no visible chat shows. */
  get shownQuestions() {
    return this._page ? this.questions.filter(({questionId}) => !this._page?.elsewhere.includes(questionId)) : this.questions;
  }

  /** Return the milliseconds until a time on the server's clock. @param {number} moment */
  leftMs(moment) {
    return moment - Date.now() - this._aheadMs;
  }

  async load() {
    const number = ++this._loads;
    try {
      const {calls, changes, pairings, questions = [], now} = await client.get('/api/approvals');
      if (number !== this._loads) return; // a newer request is in flight
      this._aheadMs = now - Date.now();
      this._keep(calls, changes, pairings, questions);
      startOver();
      this.notify();
    } catch {
      // the connection state shows that the server is unreachable; this is loaded again on reconnect
    }
  }

  /** @param {WaitingCall[]} calls @param {WaitingChange[]} changes @param {WaitingPairing[]} pairings @param {WaitingQuestion[]} questions */
  _keep(calls, changes, pairings, questions) {
    this.isLoaded = true;
    this.calls = onlyCall ? calls.filter(({callId}) => callId === onlyCall) : calls;
    [this.changes, this.pairings, this.questions] = onlyCall ? [[], [], []] : [changes, pairings, questions];
  }

  /** Return the call as it would be with other arguments. @param {WaitingCall} call @param {Record<string, unknown>} edited @returns {Promise<WaitingCall>} */
  edit(call, edited) {
    return client.post(`/api/approvals/${encodeURIComponent(call.callId)}/edit`, {arguments: edited});
  }

  /** Return recorded calls that each offer would have allowed. @param {WaitingCall} call @returns {Promise<Example[][]>} */
  async examples(call) {
    return (await client.get(`/api/approvals/${encodeURIComponent(call.callId)}/examples`)).examples;
  }

  /** @param {WaitingCall} call @param {{approved: boolean, offer?: number, reason?: string}} word */
  async decide(call, word) {
    const body = {...word, digest: call.digest};
    await client.post(`/api/approvals/${encodeURIComponent(call.callId)}/decision`, body);
    await this.load();
  }

  /** Answer a question of a tool. @param {WaitingQuestion} question @param {import('../../questions/ac-chat-question.js').Answer} answer */
  answer({sessionId, questionId}, answer) {
    return this._decide(`/api/approvals/sessions/${encodeURIComponent(sessionId)}/answer`, {questionId, ...answer});
  }

  /** @param {WaitingChange} change @param {boolean} approved @param {string[]} reading  tools to treat as reading */
  decideChange(change, approved, reading) {
    return this._decide(`/api/policy-changes/${encodeURIComponent(change.changeId)}/decision`, {approved, reading});
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
