/** The connection to the server: a WebSocket or, if none gets through, a long poll. */
import {client} from '/static/client.js';
import {sessionHeaders} from '/static/session.js';

/** @typedef {{commandId: string, type: string, args: Record<string, any>, timeoutMs: number}} Command */
/** @typedef {{ok: true, result: unknown} | {ok: false, error: {message: string, stack?: string}}} Outcome */

const ADDRESS = '/api/ui-commands';
const KEY = 'agentcore.ui_page.clientId';
const PING_MS = 15_000;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 10_000;
/** After this many sockets that did not open, polling is used, and a socket is tried again later. */
const SOCKET_TRIES = 2;
const SOCKET_AGAIN_MS = 60_000;
/** The close code if another page, a copy of this one, has taken over the id. */
const REPLACED = 4001;
const FORBIDDEN = 1008;

export class Channel {
  /** @param {(command: Command) => Promise<Outcome>} carryOut */
  constructor(carryOut) {
    this._carryOut = carryOut;
    this._isWanted = false;
    this._isRunning = false;
    this._refusals = 0;
    this._failures = 0;
    this._pollsUntil = 0;
    /** @type {WebSocket | null} */
    this._socket = null;
    this._clientId = sessionStorage.getItem(KEY) ?? this._newId();
    const ready = () => { if (!document.hidden) this._say({type: 'ready'}); };
    document.addEventListener('visibilitychange', ready);
    window.addEventListener('focus', ready);
    setInterval(() => this._say({type: 'ping'}), PING_MS);
  }

  start() {
    this._isWanted = true;
    if (!this._isRunning) void this._run();
  }

  stop() {
    this._isWanted = false;
    this._socket?.close();
  }

  async _run() {
    this._isRunning = true;
    while (this._isWanted) {
      const isFine = await (Date.now() < this._pollsUntil ? this._poll() : this._talk());
      this._failures = isFine ? 0 : this._failures + 1;
      if (this._failures > 0) await pause(Math.min(FIRST_WAIT_MS * 2 ** this._failures, LONGEST_WAIT_MS));
    }
    this._isRunning = false;
  }

  /** Listen on a socket until it closes. @returns {Promise<boolean>} whether it had opened */
  _talk() {
    const value = sessionHeaders()['X-Agentcore-Session'] ?? '';
    const address = new URL(`${ADDRESS}/socket?clientId=${this._clientId}`, location.href);
    address.protocol = address.protocol.replace('http', 'ws');
    const socket = this._socket = new WebSocket(address, ['agentcore', `agentcore.session.${value}`]);
    let hasOpened = false;
    return new Promise((resolve) => {
      socket.onopen = () => { hasOpened = true; };
      socket.onmessage = ({data}) => void this._take(JSON.parse(data).command, socket);
      socket.onclose = ({code}) => {
        this._socket = null;
        if (code === REPLACED || (code === FORBIDDEN && hasOpened)) this._clientId = this._newId();
        this._refusals = hasOpened ? 0 : this._refusals + 1;
        if (this._refusals >= SOCKET_TRIES) {
          this._refusals = 0;
          this._pollsUntil = Date.now() + SOCKET_AGAIN_MS;
        }
        resolve(hasOpened);
      };
    });
  }

  /** @param {Command} command @param {WebSocket} socket */
  async _take(command, socket) {
    const outcome = await this._carryOut(command);
    if (socket.readyState !== WebSocket.OPEN) return;
    socket.send(JSON.stringify({type: 'result', commandId: command.commandId, ...outcome}));
    this._say({type: 'ready'});
  }

  /** @param {{type: string}} sign */
  _say(sign) {
    if (this._socket?.readyState === WebSocket.OPEN) this._socket.send(JSON.stringify(sign));
  }

  /** Poll once for a command, run it and send its result. @returns {Promise<boolean>} whether the server was reached */
  async _poll() {
    try {
      const {command} = await client.get(`${ADDRESS}/poll?clientId=${this._clientId}&timeoutMs=25000`);
      if (!command) return true;
      const outcome = await this._carryOut(command);
      await client.post(`${ADDRESS}/result`, {clientId: this._clientId, commandId: command.commandId, ...outcome});
      return true;
    } catch (error) {
      if (/** @type {any} */ (error).type === 'forbidden') this._clientId = this._newId();
      return false;
    }
  }

  _newId() {
    const id = crypto.randomUUID();
    sessionStorage.setItem(KEY, id);
    return id;
  }
}

/** @param {number} ms @returns {Promise<void>} */
function pause(ms) {
  return new Promise((resolve) => { setTimeout(resolve, ms); });
}
