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
    this._reported = new Set();
    /** Of these, the ids that were reported while messages were being sent: the responses tell which are those. @type {Set<string>} */
    this._unmatched = new Set();
    this._updates = 0;
  }

  /** The queued messages, the next one first; one that is being sent is shown once. */
  get messages() {
    if (!this._sending.length) return this._waiting;
    const texts = new Set(this._sending.map(({text}) => text));
    return [...this._waiting.filter(({messageId, text}) => !(this._unmatched.has(messageId) && texts.has(text))), ...this._sending];
  }

  load() {
    return this._read(client.get(this._path));
  }

  /** Replace the queue with its state on the server. @param {{messages: QueuedMessage[], isPaused: boolean}} queue */
  take({messages, isPaused}) {
    this._updates += 1;
    this._waiting = messages;
    this.isPaused = isPaused;
    for (const {messageId} of messages) this._report(messageId);
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
      this._unmatched.delete(messageId);
      if (state !== 'started' && !this._reported.has(messageId)) this._waiting = [...this._waiting, {...message, messageId}];
    } finally {
      this._sending = this._sending.filter((one) => one !== own);
      if (!this._sending.length) this._unmatched.clear();
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

  /** Note that the server has queued a message, perhaps before its response names it as one that is being sent. @param {string} messageId */
  _report(messageId) {
    if (this._reported.has(messageId)) return;
    this._reported.add(messageId);
    if (this._sending.length) this._unmatched.add(messageId);
  }

  /** Apply a response, unless an event arrived first: that may be newer, and carries the whole queue. @param {Promise<any>} answer */
  async _read(answer) {
    const before = this._updates;
    const queue = await answer;
    if (this._updates === before) this.take(queue);
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
