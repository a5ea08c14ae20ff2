import {LitElement, html, nothing} from 'lit';
import {client} from '../../client/client.js';
import {Listening} from '../../base/subscriptions.js';
import '../../results/ac-output.js';

const QUICK_MS = 300; // no request is sent for calls that end sooner
const KEPT_CHARS = 40_000;
const OVERWRITTEN = /[^\n\r]*\r(?=[^\n\r])/g; // text after a carriage return overwrites the line before it

/** The live output of a running call. It subscribes to events itself, so that nothing else in the chat is rendered for it. */
export class AcLiveOutput extends LitElement {
  static properties = {
    callId: {attribute: false},
    isRunning: {type: Boolean, attribute: 'running'},
    final: {attribute: false},
    _text: {state: true},
  };

  constructor() {
    super();
    this.callId = '';
    this.isRunning = false;
    /** @type {string | null} What the result contains as output; null: none. */
    this.final = null;
    this._text = '';
    this._end = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this._timer = undefined;
    new Listening(this, () => [
      client.on('call.output', (event) => { if (event.callId === this.callId) this._take(event); }),
      client.on('connection', (connection) => { if (connection === 'open') void this._catchUp(); }),
      client.on('events.reset', () => void this._catchUp()),
    ]);
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (changed.has('callId')) {
      this._text = '';
      this._end = 0;
      this._catchUpSoon();
    }
  }

  disconnectedCallback() {
    clearTimeout(this._timer);
    super.disconnectedCallback();
  }

  render() {
    const text = this.final ?? this._text;
    return text ? html`<ac-output .text=${text} ?running=${this.isRunning}></ac-output>` : nothing;
  }

  _catchUpSoon() {
    clearTimeout(this._timer);
    this._timer = setTimeout(() => void this._catchUp(), QUICK_MS);
  }

  /** Load the output that was missed. */
  async _catchUp() {
    if (!this.callId || !this.isRunning) return;
    try {
      this._take(await client.get(`/api/calls/${encodeURIComponent(this.callId)}/output`));
    } catch {
      // the call has just ended, and its result has the rest; or the server is unreachable, and reconnecting requests it again
    }
  }

  /** @param {{text: string, end: number}} piece */
  _take({text, end}) {
    const characters = [...text]; // code points, as the server counts
    const start = end - characters.length;
    if (end <= this._end) return;
    const isGap = start > this._end;
    const joined = isGap ? `${this._text ? `${this._text}\n` : ''}…\n${text}` : this._text + characters.slice(this._end - start).join('');
    this._text = (text.includes('\r') || this._text.endsWith('\r') ? joined.replace(OVERWRITTEN, '') : joined).slice(-KEPT_CHARS);
    this._end = end;
    this.dispatchEvent(new CustomEvent('ac-output'));
  }
}
customElements.define('ac-live-output', AcLiveOutput);
