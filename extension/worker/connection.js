/**
 * The one connection to the server that is used. It is there while something is shared, comes back by itself, and tells
 * the server at each beginning what is shared and how calls of before ended.
 */
import {keyEnded} from './servers.js';

/**
 * @typedef {import('./servers.js').Server} Server
 * @typedef {Record<string, any> & {type: string}} Message
 * `unavailable`: the server answers, and offers no shared tabs; its module `user_tabs` is off, or the key is not allowed to.
 * @typedef {'off' | 'connecting' | 'open' | 'unavailable'} ConnectionState
 */

const PATH = '/api/user-tabs/socket';
/** Between two tries; the last one is repeated, so that a server is found within three seconds after it is back. */
const TRIES_MS = [200, 500, 1000, 2000];
/** The server and what lies between take a silent connection for a dead one; the browser ends a worker that is idle for 30 s. */
const PING_MS = 20_000;
const OPEN_MS = 10_000;

export class Connection {
  /**
   * @param {object} parts
   * @param {(server: Server) => Promise<Message>} parts.hello  what is said first
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

  /** Connect, if not connected to this server with this key, and stay so. @param {Server} server */
  start(server) {
    const isSame = this._server?.origin === server.origin && this._server.key === server.key;
    this._isWanted = true;
    if (isSame && (this._socket || this._retry !== undefined)) return;
    this._drop();
    this._server = server;
    this._tries = 0;
    this._open();
  }

  /** End it. */
  stop() {
    this._isWanted = false;
    this._server = null;
    this._drop();
    void this._tell('off');
  }

  /** Try at once, as when the network is back. */
  retry() {
    if (this._retry === undefined) return;
    clearTimeout(this._retry);
    this._retry = undefined;
    this._open();
  }

  /** Send a message, if the server listens; what it misses is in the next hello. @param {Message} message @returns {boolean} */
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
    // one that neither opens nor fails, as behind a firewall that drops what it does not like
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
      // nothing came since the last one: the other side is gone without a word, as after a sleep of the machine
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

  /** The panel shows it. That it is written also keeps the worker from being idle between two tries. @param {ConnectionState} state */
  async _tell(state) {
    await chrome.storage.session.set({connection: state});
  }
}

/** What the server says to the key: a socket that is refused does not tell why. @param {Server} server @returns {Promise<number>} 0: no answer */
async function keyStatus(server) {
  const headers = {Authorization: `Bearer ${server.key}`};
  const answer = await fetch(`${server.origin}/api/session`, {headers, cache: 'no-store'}).catch(() => null);
  return answer?.status ?? 0;
}
