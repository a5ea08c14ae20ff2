/** The elements that chats know by id, for showing calls. */
import {Store} from '../../webui/base/store.js';
import {route} from '../../webui/base/router.js';
import {allTurns, onTurns} from './turn-tabs.js';

class KnownElements extends Store {
  constructor() {
    super();
    /** @type {Awaited<ReturnType<typeof allTurns>>} */
    this._turns = {};
    onTurns(() => void this._load());
    void this._load();
  }

  /** The elements of the chat in view. @returns {import('./describe.js').Elements} */
  get inView() {
    return this._turns[route().path[1] ?? '']?.elements ?? {};
  }

  async _load() {
    this._turns = await allTurns();
    this.notify();
  }
}

export const knownElements = new KnownElements();
