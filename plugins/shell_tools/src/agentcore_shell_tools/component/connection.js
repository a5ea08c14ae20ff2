/** The WebSocket of one terminal view: reconnects by itself, and reports how much has been drawn. */

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8000;

/**
 * @typedef {object} Handlers
 * @property {() => void} onOpen  a new connection: all output is sent again from the start
 * @property {(data: Uint8Array, drawn: () => void) => void} onOutput  call `drawn` once it is on the screen
 * @property {(message: any) => void} onMessage
 * @property {(isOver: boolean) => void} onLost  `isOver`: there is nothing left to connect to
 */

export class Connection {
  /**
   * @param {{socket: (path: string) => WebSocket}} client
   * @param {string} path
   * @param {Handlers} handlers
   */
  constructor(client, path, handlers) {
    this._client = client;
    this._path = path;
    this._handlers = handlers;
    this._waitMs = FIRST_WAIT_MS;
    this._isClosed = this._isFinished = false;
    /** @type {WebSocket | null} */
    this._socket = null;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this._timer = undefined;
    this._connect();
  }

  /** @param {Record<string, unknown>} message */
  send(message) {
    if (this._socket?.readyState === WebSocket.OPEN) this._socket.send(JSON.stringify(message));
  }

  /** Mark the process as ended, so that a connection that closes is no longer reported as lost. */
  finish() {
    this._isFinished = true;
  }

  /** Reconnect now, if the connection is lost. */
  retry() {
    if (this._isClosed || this._isFinished || this._socket?.readyState !== WebSocket.CLOSED) return;
    clearTimeout(this._timer);
    this._connect();
  }

  close() {
    this._isClosed = true;
    clearTimeout(this._timer);
    this._socket?.close();
  }

  _connect() {
    const socket = this._client.socket(this._path);
    socket.binaryType = 'arraybuffer';
    this._socket = socket;
    let drawn = 0;
    socket.onopen = () => {
      this._waitMs = FIRST_WAIT_MS;
      this._handlers.onOpen();
    };
    socket.onmessage = ({data}) => {
      if (typeof data === 'string') {
        this._handlers.onMessage(JSON.parse(data));
        return;
      }
      this._handlers.onOutput(new Uint8Array(data), () => {
        drawn += data.byteLength;
        if (socket === this._socket) this.send({type: 'seen', bytes: drawn});
      });
    };
    socket.onclose = ({reason}) => {
      if (this._isClosed || this._isFinished) return;
      const isOver = reason === 'process_not_found';
      this._handlers.onLost(isOver);
      if (isOver) {
        this._isFinished = true;
        return;
      }
      this._timer = setTimeout(() => this._connect(), this._waitMs);
      this._waitMs = Math.min(this._waitMs * 2, LONGEST_WAIT_MS);
    };
  }
}
