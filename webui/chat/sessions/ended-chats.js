/** Chats in which an answer ended or failed while the user looked elsewhere. */
import {client} from '../../client/client.js';
import {Store} from '../../base/store.js';

const KEY = 'agentcore.endedChats';

/** @typedef {'done' | 'failed'} Ended */

class EndedChats extends Store {
  constructor() {
    super();
    /** @type {Map<string, Ended>} */
    this._ended = new Map(stored());
    /** The chat that is open; empty: none. */
    this._open = '';
    client.on('session.message', ({sessionId, thread}) => { if (!thread) this._mark(sessionId, null); });
    client.on('session.error', ({sessionId, thread, error}) => {
      if (!thread && error?.type !== 'cancelled') this._mark(sessionId, 'failed'); // not what the user stopped
    });
    client.on('session.finished', ({sessionId, thread, waiting}) => {
      if (!thread && this._ended.get(sessionId) !== 'failed') this._mark(sessionId, waiting?.length ? null : 'done');
    });
    client.on('session.deleted', ({sessionId}) => this._mark(sessionId, null));
    document.addEventListener('visibilitychange', () => { if (!document.hidden) this.open(this._open); });
  }

  /** @param {string} sessionId @returns {Ended | undefined} */
  stateOf(sessionId) {
    return this._ended.get(sessionId);
  }

  /** Remove the mark of a chat that the user opens, and set none while it is open. @param {string} sessionId  empty: no chat is open */
  open(sessionId) {
    this._open = sessionId;
    this._mark(sessionId, null);
  }

  /** @param {string} sessionId @param {Ended | null} ended */
  _mark(sessionId, ended) {
    if (ended && sessionId === this._open && !document.hidden) return;
    if (this._ended.get(sessionId) === (ended ?? undefined)) return;
    if (ended) this._ended.set(sessionId, ended);
    else this._ended.delete(sessionId);
    try {
      sessionStorage.setItem(KEY, JSON.stringify([...this._ended]));
    } catch {
      // the storage is full: the marks only exist in the page
    }
    this.notify();
  }
}

/** @returns {[string, Ended][]} */
function stored() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? '[]');
  } catch {
    return []; // written by another version of the page
  }
}

export const endedChats = new EndedChats();
