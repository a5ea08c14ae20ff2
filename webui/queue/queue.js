/** The queued messages of one chat: those that the server reported, and those that are being sent to it. */
import {client} from '../client/client.js';

/**
 * @typedef {object} QueuedMessage
 * @property {string} messageId
 * @property {string} text
 * @property {'queue' | 'steer'} when  in a separate turn, or with the next request of the current one
 * @property {string[]} [attachments]
 * @property {boolean} [isSending]
 */

let made = 0;

export class MessageQueue {
  /** @param {string} path  of the session @param {() => void} changed */
  constructor(path, changed) {
    this._path = `${path}/queue`;
    this._changed = changed;
    this.isPaused = false;
    /** @type {QueuedMessage[]} */
    this._waiting = [];
    /** @type {QueuedMessage[]} */
    this._sending = [];
    /** The ids of messages that the server has reported: one that is no longer queued has been sent. @type {Set<string>} */
    this._told = new Set();
    this._taken = 0;
  }

  /** The queued messages, the next one first. */
  get messages() {
    return this._sending.length ? [...this._waiting, ...this._sending] : this._waiting;
  }

  load() {
    return this._read(client.get(this._path));
  }

  /** Replace the queue with its state on the server. @param {{messages: QueuedMessage[], isPaused: boolean}} told */
  take({messages, isPaused}) {
    this._taken += 1;
    this._waiting = messages;
    this.isPaused = isPaused;
    for (const message of messages) this._arrived(message);
    this._changed();
  }

  /**
   * Show a message while it is being sent, and then in the queue if it has to wait.
   * @param {Pick<QueuedMessage, 'text' | 'when' | 'attachments'>} message
   * @param {() => Promise<{messageId: string, state: string}>} send
   */
  async add(message, send) {
    const own = {...message, messageId: `sending-${++made}`, isSending: true};
    this._sending = [...this._sending, own];
    this._changed();
    try {
      const {messageId, state} = await send();
      if (state !== 'started' && !this._told.has(messageId)) this._waiting = [...this._waiting, {...message, messageId}];
    } finally {
      this._sending = this._sending.filter((one) => one !== own);
      this._changed();
    }
  }

  /** Change a queued message; resolve to false if it has already been sent. @param {string} messageId @param {{text?: string, when?: 'steer'}} change */
  change(messageId, change) {
    return this._ask(client.patch(this._pathOf(messageId), change));
  }

  /** Remove a queued message; resolve to false if it has already been sent. @param {string} messageId */
  remove(messageId) {
    return this._ask(client.del(this._pathOf(messageId)));
  }

  /** Resume a paused queue. */
  resume() {
    return this._read(client.patch(this._path, {isPaused: false}));
  }

  /** Replace a message that is being sent with the one that the server reports, even before its response. @param {QueuedMessage} message */
  _arrived({messageId, text}) {
    if (this._told.has(messageId)) return;
    this._told.add(messageId);
    const own = this._sending.find((one) => one.text === text);
    if (own) this._sending = this._sending.filter((one) => one !== own);
  }

  /** Apply a response, unless an event arrived first: that may be newer, and carries the whole queue. @param {Promise<any>} answer */
  async _read(answer) {
    const before = this._taken;
    const told = await answer;
    if (this._taken === before) this.take(told);
  }

  /** @param {Promise<any>} answer */
  async _ask(answer) {
    try {
      await this._read(answer);
      return true;
    } catch (error) {
      if (/** @type {import('../client/client.js').ApiError} */ (error).type !== 'message_not_found') throw error;
      await this.load();
      return false;
    }
  }

  /** @param {string} messageId */
  _pathOf(messageId) {
    return `${this._path}/${encodeURIComponent(messageId)}`;
  }
}
