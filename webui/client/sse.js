/** Server-sent events, read from a `fetch` response: unlike `EventSource`, `fetch` can send the session header. */

/** @typedef {{event: string, data: string}} Message */

/**
 * Read messages until the stream ends.
 * @param {Response} response
 * @param {(message: Message) => void} onMessage
 * @param {(id: string) => void} [onId]  receives each id, including ids without a message
 * @param {() => void} [onBytes]  called for every chunk received
 */
export async function readMessages(response, onMessage, onId = () => {}, onBytes = () => {}) {
  const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
  const decoder = new TextDecoder();
  const parser = new Parser(onMessage, onId);
  for (;;) {
    const {done, value} = await reader.read();
    if (done) return;
    onBytes();
    parser.take(decoder.decode(value, {stream: true}));
  }
}

class Parser {
  /** @param {(message: Message) => void} onMessage @param {(id: string) => void} onId */
  constructor(onMessage, onId) {
    this._onMessage = onMessage;
    this._onId = onId;
    this._rest = '';
    this._event = '';
    /** @type {string[]} */
    this._data = [];
  }

  /** @param {string} text */
  take(text) {
    const lines = (this._rest + text).split('\n');
    this._rest = /** @type {string} */ (lines.pop());
    for (const line of lines) this._line(line.endsWith('\r') ? line.slice(0, -1) : line);
  }

  /** @param {string} line */
  _line(line) {
    if (line === '') return this._end();
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + (line[colon + 1] === ' ' ? 2 : 1));
    if (name === 'data') this._data.push(value);
    else if (name === 'event') this._event = value;
    else if (name === 'id') this._onId(value);
  }

  _end() {
    if (this._data.length) this._onMessage({event: this._event || 'message', data: this._data.join('\n')});
    this._event = '';
    this._data = [];
  }
}
