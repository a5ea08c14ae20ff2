/**
 * The only connection to the server in use. It exists while a tab is shared, reconnects by itself, and each time it opens
 * reports what is shared and how earlier calls ended.
 */
import {keyEnded} from './servers.js';

/**
 * @typedef {import('./servers.js').Server} Server
 * @typedef {Record<string, any> & {type: string}} Message
 * `unavailable`: the server answers but offers no shared tabs; its module `user_tabs` is off, or the key lacks the permission.
 * @typedef {'off' | 'connecting' | 'open' | 'unavailable'} ConnectionState
 */

const PATH = '/api/user-tabs/socket';
/** The delays between attempts; the last one repeats, so that a server is found within three seconds after it is back. */
const TRIES_MS = [200, 500, 1000, 2000];
/** Servers and proxies treat silent connections as dead, and the browser ends a worker that is idle for 30 s. */
const PING_MS = 20_000;
const OPEN_MS = 10_000;

export class Connection {
  /**
   * @param {object} parts
   * @param {(server: Server) => Promise<Message>} parts.hello  returns the first message
   * @param {(message: Message) => void} parts.onMessage
   * @param {() => void} parts.onUnavailable
   */
  constructor({hello, onMessage, onUnavailable}) {
    this._hello = hello;
    this._onMessage = onMessage;
    this._onUnavailable = onUnavailable;
    /** @type {WebSocket | null} */
    this._socket = null;
    /** @type {Server | null} */
    this._server = null;
    this._isWelcome = false;
    this._isHeard = true;
    this._tries = 0;
    this._isWanted = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this._retry = undefined;
    /** @type {ReturnType<typeof setInterval> | undefined} */
    this._pings = undefined;
  }

  /** Connect to a server and stay connected; keeps a connection with the same origin and key. @param {Server} server */
  start(server) {
    const isSame = this._server?.origin === server.origin && this._server.key === server.key;
    this._isWanted = true;
    if (isSame && (this._socket || this._retry !== undefined)) return;
    this._drop();
    this._server = server;
    this._tries = 0;
    this._open();
  }

  /** Disconnect, and do not reconnect. */
  stop() {
    this._isWanted = false;
    this._server = null;
    this._drop();
    void this._tell('off');
  }

  /** Skip the delay before the next attempt, for example when the network is back. */
  retry() {
    if (this._retry === undefined) return;
    clearTimeout(this._retry);
    this._retry = undefined;
    this._open();
  }

  /** Send a message if the connection is ready; what the server misses is part of the next hello. @param {Message} message @returns {boolean} */
  send(message) {
    if (!this._isWelcome || this._socket?.readyState !== WebSocket.OPEN) return false;
    this._socket.send(JSON.stringify(message));
    return true;
  }

  _open() {
    const server = this._server;
    if (!server?.key) return;
    void this._tell('connecting');
    const address = `${server.origin.replace(/^http/, 'ws')}${PATH}`;
    const socket = new WebSocket(address, ['agentcore', `agentcore.key.${server.key}`]);
    this._socket = socket;
    // a connection may neither open nor fail, for example behind a firewall that drops packets
    const late = setTimeout(() => socket.close(), OPEN_MS);
    socket.onopen = async () => {
      const hello = JSON.stringify(await this._hello(server));
      if (this._socket === socket && socket.readyState === WebSocket.OPEN) socket.send(hello);
    };
    socket.onmessage = ({data}) => this._receive(socket, data, late);
    socket.onclose = () => {
      clearTimeout(late);
      if (this._socket === socket) void this._lost(server);
    };
  }

  /** @param {WebSocket} socket @param {string} data @param {ReturnType<typeof setTimeout>} late */
  _receive(socket, data, late) {
    if (this._socket !== socket) return;
    this._isHeard = true;
    const message = JSON.parse(data);
    if (message.type === 'welcome') {
      clearTimeout(late);
      this._isWelcome = true;
      this._tries = 0;
      this._pings = setInterval(() => this._ping(socket), PING_MS);
      void this._tell('open');
    }
    if (message.type !== 'pong') this._onMessage(message);
  }

  /** @param {WebSocket} socket */
  _ping(socket) {
    if (!this._isHeard) {
      // nothing arrived since the last ping: the other side is gone without closing, for example after the machine slept
      const server = this._server;
      this._drop();
      if (server) void this._lost(server);
      return;
    }
    this._isHeard = false;
    socket.send(JSON.stringify({type: 'ping'}));
  }

  /** @param {Server} server */
  async _lost(server) {
    const wasWelcome = this._isWelcome;
    this._drop();
    if (!this._isWanted || this._server !== server) return;
    void this._tell('connecting');
    this._retry = setTimeout(() => this.retry(), TRIES_MS[Math.min(this._tries, TRIES_MS.length - 1)]);
    this._tries += 1;
    if (wasWelcome) return;
    const status = await keyStatus(server);
    if (status === 401) await keyEnded(server.origin, server.key ?? '');
    else if (status !== 0 && this._server === server && !this._isWelcome) {
      void this._tell('unavailable');
      this._onUnavailable();
    }
  }

  _drop() {
    clearInterval(this._pings);
    clearTimeout(this._retry);
    this._retry = undefined;
    const socket = this._socket;
    this._socket = null;
    this._isWelcome = false;
    this._isHeard = true;
    socket?.close();
  }

  /** Publish the state for the panel. Writing it also keeps the worker from being idle between attempts. @param {ConnectionState} state */
  async _tell(state) {
    await chrome.storage.session.set({connection: state});
  }
}

/** Return the HTTP status for the key, as a refused socket does not report why. @param {Server} server @returns {Promise<number>} 0: no answer */
async function keyStatus(server) {
  const headers = {Authorization: `Bearer ${server.key}`};
  const answer = await fetch(`${server.origin}/api/session`, {headers, cache: 'no-store'}).catch(() => null);
  return answer?.status ?? 0;
}
