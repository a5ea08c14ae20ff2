/** The WebSocket of one page's live picture. */

/** @typedef {{tabId: string, url: string, title: string, driver: null | 'you' | 'other', dialog: null | {type: string, message: string}}} PageState */
/**
 * @typedef {object} Listener
 * @property {(state: PageState) => void} onState
 * @property {(picture: ImageBitmap, size: {width: number, height: number}) => void} onPicture
 * @property {(error: any) => void} onError
 * @property {() => void} onEnd
 */

export class PageSocket {
  /** @param {any} client  the module's @param {string} id  tab or resource @param {Listener} listener */
  constructor(client, id, listener) {
    this._listener = listener;
    this._size = {width: 1280, height: 720};
    this._isClosed = false;
    this._socket = client.socket(`preview/${encodeURIComponent(id)}`);
    this._socket.binaryType = 'blob';
    this._socket.onmessage = (/** @type {MessageEvent} */ {data}) => void this._take(data);
    this._socket.onclose = () => { if (!this._isClosed) listener.onEnd(); };
  }

  /** @param {object} message */
  send(message) {
    if (this._socket.readyState === WebSocket.OPEN) this._socket.send(JSON.stringify(message));
  }

  close() {
    this._isClosed = true;
    this._socket.close();
  }

  /** @param {string | Blob} data */
  async _take(data) {
    if (typeof data !== 'string') {
      await this._show(data);
      return;
    }
    const message = JSON.parse(data);
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
      // the next one comes when this one was seen: a slow page gets fewer, never older ones
      this.send({type: 'shown'});
    }
  }
}
