/** The WebSocket for the live view of one page, which reconnects by itself. */

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8000;
const GONE = 4404; // the page does not exist, or was closed

/** @typedef {{tabId: string, url: string, title: string, driver: null | 'you' | 'other', dialog: null | {type: string, message: string}}} PageState */
/**
 * @typedef {object} Listener
 * @property {(state: PageState) => void} onState
 * @property {(picture: ImageBitmap, size: {width: number, height: number}) => void} onPicture
 * @property {(error: any) => void} onError
 * @property {() => void} onLost  the connection is being retried
 * @property {() => void} onEnd  the page does not exist
 */

export class PageSocket {
  /** @param {any} client  the module's @param {string} id  tab or resource @param {Listener} listener */
  constructor(client, id, listener) {
    this._client = client;
    this._path = `preview/${encodeURIComponent(id)}`;
    this._listener = listener;
    this._size = {width: 1280, height: 720};
    this._isClosed = false;
    this._waitMs = FIRST_WAIT_MS;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this._timer = undefined;
    this._open();
  }

  /** Reconnect now, if the connection is lost. */
  retry() {
    if (this._isClosed || this._socket.readyState !== WebSocket.CLOSED) return;
    clearTimeout(this._timer);
    this._open();
  }

  /** @param {object} message */
  send(message) {
    if (this._socket.readyState === WebSocket.OPEN) this._socket.send(JSON.stringify(message));
  }

  close() {
    this._isClosed = true;
    clearTimeout(this._timer);
    this._socket.close();
  }

  _open() {
    const socket = this._client.socket(this._path);
    this._socket = socket;
    socket.binaryType = 'blob';
    socket.onmessage = (/** @type {MessageEvent} */ {data}) => void this._take(data);
    socket.onclose = (/** @type {CloseEvent} */ {code}) => {
      if (this._isClosed || socket !== this._socket) return;
      if (code === GONE) {
        this._isClosed = true;
        this._listener.onEnd();
        return;
      }
      this._listener.onLost();
      this._timer = setTimeout(() => this._open(), this._waitMs);
      this._waitMs = Math.min(this._waitMs * 2, LONGEST_WAIT_MS);
    };
  }

  /** @param {string | Blob} data */
  async _take(data) {
    if (typeof data !== 'string') {
      await this._show(data);
      return;
    }
    const message = JSON.parse(data);
    this._waitMs = FIRST_WAIT_MS;
    if (message.type === 'state') this._listener.onState(message);
    else if (message.type === 'size') this._size = message;
    else if (message.type === 'error') this._listener.onError(message.error);
  }

  /** @param {Blob} data */
  async _show(data) {
    try {
      const picture = await createImageBitmap(data);
      if (!this._isClosed) this._listener.onPicture(picture, this._size);
    } finally {
      // the next image is sent after this one was shown: a slow page gets fewer images, never outdated ones
      this.send({type: 'shown'});
    }
  }
}
