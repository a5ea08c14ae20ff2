/**
 * The event stream of the server: resumed after every disconnect, delivered once per animation frame.
 *
 * `events.reset` means that events were missed: subscribers have to load their data again.
 */
import {LONGEST_WAIT_MS, hasSession, serverAddress, sessionHeaders} from './session.js';
import {readMessages} from './sse.js';

/** @typedef {'connecting' | 'open' | 'lost' | 'unauthorized'} Connection */
/** @typedef {{id: string, type: string, time: number, sessionId?: string, [key: string]: any}} ServerEvent */

const FIRST_WAIT_MS = 250;
/** The server sends a heartbeat every 15 s; after this long without any data the connection is considered dead. */
const SILENCE_MS = 40_000;
/** The longest delay of an event: a hidden page gets no animation frames, and must not collect events until it is shown. */
const LONGEST_DELAY_MS = 250;

export class Events {
  constructor() {
    /** @type {Connection} */
    this.connection = 'connecting';
    /** @type {Set<{pattern: string, handler: (event: any) => void}>} */
    this._listeners = new Set();
    /** @type {ServerEvent[]} */
    this._pending = [];
    this._isScheduled = false;
    /** @type {string | null} */
    this._lastId = null;
    this._failures = 0;
    this._isStarted = false;
    this._ending = new AbortController();
    this._wake = () => {};
    window.addEventListener('online', () => this._wake());
    document.addEventListener('visibilitychange', () => { if (!document.hidden) this._wake(); });
  }

  /**
   * Call `handler` for each event whose type matches.
   * @param {string} pattern  a type, or a prefix and `*`; `connection` for the state of the stream itself
   * @param {(event: any) => void} handler
   * @returns {() => void} the unsubscribe function
   */
  on(pattern, handler) {
    const listener = {pattern, handler};
    this._listeners.add(listener);
    return () => void this._listeners.delete(listener);
  }

  /** Connect and stay connected; also called after a login. */
  start() {
    if (this._isStarted) return this._wake();
    this._isStarted = true;
    void this._run();
  }

  /** Disconnect because the session is not valid, and wait for the next `start`. */
  refuse() {
    this._set('unauthorized');
    this._ending.abort();
  }

  async _run() {
    for (;;) {
      if (!hasSession()) this._set('unauthorized');
      else await this._connect();
      await this._pause();
    }
  }

  async _connect() {
    const ending = this._ending = new AbortController();
    let timer = setTimeout(() => ending.abort(), SILENCE_MS);
    const alive = () => {
      clearTimeout(timer);
      timer = setTimeout(() => ending.abort(), SILENCE_MS);
    };
    try {
      const headers = {...sessionHeaders(), Accept: 'text/event-stream', ...(this._lastId ? {'Last-Event-ID': this._lastId} : {})};
      // no-store: otherwise a second window in Firefox waits up to 20 s for the first one's response, to reuse it from the cache
      const response = await fetch(serverAddress('/api/events'), {headers, signal: ending.signal, cache: 'no-store'});
      if (response.status === 401) return this._set('unauthorized');
      if (!response.ok) throw new Error(`the event stream answered ${response.status}`);
      this._failures = 0;
      this._set('open');
      await readMessages(response, ({data}) => this._take(data), (id) => { this._lastId = id; }, alive);
    } catch {
      // whatever the reason, the server is unreachable: that is shown, and the connection is retried
    } finally {
      clearTimeout(timer);
      ending.abort();
    }
    if (this.connection !== 'unauthorized') this._set('lost');
  }

  /** @returns {Promise<void>} */
  _pause() {
    const longest = Math.min(FIRST_WAIT_MS * 2 ** this._failures, LONGEST_WAIT_MS);
    this._failures += 1;
    // jitter: pages that lost the same server must not all reconnect at the same moment
    const waitMs = this.connection === 'unauthorized' ? null : longest * (0.5 + Math.random() / 2);
    return new Promise((resolve) => {
      const timer = waitMs === null ? undefined : setTimeout(resolve, waitMs);
      this._wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** @param {Connection} connection */
  _set(connection) {
    if (connection === this.connection) return;
    this.connection = connection;
    this._emit('connection', connection);
  }

  /** @param {string} data */
  _take(data) {
    this._pending.push(JSON.parse(data));
    if (this._isScheduled) return;
    this._isScheduled = true;
    const frame = requestAnimationFrame(() => this._deliver(frame, timer));
    const timer = setTimeout(() => this._deliver(frame, timer), LONGEST_DELAY_MS);
  }

  /** @param {number} frame @param {ReturnType<typeof setTimeout>} timer */
  _deliver(frame, timer) {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    this._isScheduled = false;
    const events = this._pending;
    this._pending = [];
    for (const event of events) this._emit(event.type, event);
  }

  /** @param {string} type @param {unknown} event */
  _emit(type, event) {
    for (const {pattern, handler} of [...this._listeners]) {
      if (!matches(pattern, type)) continue;
      try {
        handler(event);
      } catch (error) {
        reportError(error); // an error in one listener, perhaps a module's, must not keep events from the others
      }
    }
  }
}

/** @param {string} pattern @param {string} type */
function matches(pattern, type) {
  return pattern.endsWith('*') ? type !== 'connection' && type.startsWith(pattern.slice(0, -1)) : type === pattern;
}
