/** The list of chats, the last used first: stored once, shared by all. */
import {client} from '../../client/client.js';
import {Store} from '../../base/store.js';

/**
 * @typedef {object} Session
 * @property {string} sessionId
 * @property {string} title
 * @property {string} agentId
 * @property {string} model
 * @property {string} mode
 * @property {string} [host]  the host on another machine that its calls go to; '': the server
 * @property {number} createdAt
 * @property {number} lastUsedAt
 * @property {boolean} isRunning
 * @property {string[] | number} waiting  the pending calls, or their number
 * @property {number} [questions]  questions of tools that wait
 * @property {import('../composer/ac-chat-tokens.js').Usage} [usage]
 * @property {import('../composer/ac-chat-tokens.js').Context} [context]
 */

const PAGE = 50;
const SEARCH_AFTER_MS = 150;

class SessionList extends Store {
  constructor() {
    super();
    /** @type {Session[]} */
    this.sessions = [];
    this.query = '';
    this.hasMore = false;
    this.isLoaded = false;
    this.isLoading = false;
    /** @type {unknown} */
    this.error = null;
    this._generation = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this._timer = undefined;
    client.on('session.*', (event) => this._onEvent(event));
    client.on('approval.*', ({sessionId}) => { if (sessionId) this._later(); });
    client.on('events.reset', () => this._later());
    client.on('connection', (connection) => { if (connection === 'open' && this.isLoaded) this._later(); });
  }

  /** Load the first page of the current search. */
  load() {
    return this._page(null);
  }

  /** Load the next page, with older chats. */
  async loadMore() {
    if (this.hasMore && !this.isLoading) await this._page(this.sessions.at(-1)?.sessionId ?? null);
  }

  /** Search chats by their titles and messages. @param {string} query */
  search(query) {
    if (query === this.query) return;
    this.query = query;
    this.notify();
    this._later(SEARCH_AFTER_MS);
  }

  /** @param {string} id */
  find(id) {
    return this.sessions.find(({sessionId}) => sessionId === id);
  }

  /** @param {{agentId?: string, model?: string, host?: string}} options @returns {Promise<Session>} */
  async create(options) {
    const session = await client.post('/api/sessions', options);
    this.put(session);
    return session;
  }

  /** @param {string} id @param {Partial<Session> & {todos?: {content: string}[]}} values @returns {Promise<Session>} */
  async change(id, values) {
    const session = await client.patch(`/api/sessions/${encodeURIComponent(id)}`, values);
    this.put(session);
    return session;
  }

  /** @param {string} id */
  async remove(id) {
    await client.del(`/api/sessions/${encodeURIComponent(id)}`);
    this.sessions = this.sessions.filter(({sessionId}) => sessionId !== id);
    this.notify();
  }

  /** Add or update one session, as returned by the server. @param {Session} session */
  put(session) {
    const others = this.sessions.filter(({sessionId}) => sessionId !== session.sessionId);
    const known = this.sessions.length !== others.length;
    if (!known && this.query) return;
    this.sessions = [...others, {...this.find(session.sessionId), ...session}].sort((one, other) => other.lastUsedAt - one.lastUsedAt);
    this.notify();
  }

  /** @param {{type: string, sessionId: string, time: number, waiting?: string[], thread?: unknown, [key: string]: any}} event */
  _onEvent({type, sessionId, time, waiting, thread, ...rest}) {
    if (!this.isLoaded || thread || type === 'session.content') return;
    const session = this.find(sessionId);
    if (!session) return void this._later();
    if (type === 'session.message') this.put({...session, lastUsedAt: time, isRunning: true});
    else if (type === 'session.finished') this.put({...session, lastUsedAt: time, isRunning: false, waiting: waiting ?? [], questions: 0});
    else if (type === 'session.changed') this._onChanged(session, rest);
    else if (type === 'session.deleted') this._forget(sessionId);
  }

  /** @param {Session} session @param {Record<string, any>} values */
  _onChanged(session, {title, model, mode, agentId, host}) {
    const changed = Object.entries({title, model, mode, agentId, host}).filter(([, value]) => value !== undefined && value !== null);
    this.put({...session, ...Object.fromEntries(changed)});
  }

  /** @param {string} id */
  _forget(id) {
    this.sessions = this.sessions.filter(({sessionId}) => sessionId !== id);
    this.notify();
  }

  _later(ms = SEARCH_AFTER_MS) {
    clearTimeout(this._timer);
    this._timer = setTimeout(() => void this.load(), ms);
  }

  /** @param {string | null} before  the last loaded session */
  async _page(before) {
    const generation = ++this._generation;
    this.isLoading = true;
    const query = new URLSearchParams({limit: String(PAGE), ...(this.query && {q: this.query}), ...(before !== null && {before})});
    try {
      const {sessions, hasMore} = await client.get(`/api/sessions?${query}`);
      if (generation !== this._generation) return; // a newer request is running
      const known = new Set(sessions.map((/** @type {Session} */ {sessionId}) => sessionId));
      this.sessions = before === null ? sessions : [...this.sessions.filter(({sessionId}) => !known.has(sessionId)), ...sessions];
      Object.assign(this, {hasMore: Boolean(hasMore), isLoaded: true, error: null});
    } catch (error) {
      if (generation !== this._generation) return;
      this.error = error;
    }
    this.isLoading = false;
    this.notify();
  }
}

export const sessionList = new SessionList();

/** Return the number of calls and questions in a session that wait for the user. @param {Session} session */
export function waitingIn({waiting, questions}) {
  return (typeof waiting === 'number' ? waiting : waiting?.length ?? 0) + (questions ?? 0);
}
