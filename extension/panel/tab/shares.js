/** The tabs shared with chats, as stored by the worker. */
import {Store} from '../../webui/base/store.js';
import {onStored, read} from '../stored.js';
import {connectionState, endedShares, listShares, onChanged} from '../../worker/api.js';

/** @typedef {import('../../worker/api.js').Share} Share */

class Shares extends Store {
  constructor() {
    super();
    /** @type {Share[]} */
    this.all = [];
    /** The state of the worker's connection to the server. */
    this.connection = 'off';
    /** The shares in which a call is running. @type {Set<string>} */
    this._acting = new Set();
    /** The share that ended last. @type {import('../../worker/api.js').EndedShare | null} */
    this.ended = null;
  }

  /** Follow the shares while the document exists. */
  async start() {
    onChanged(() => void this.load());
    onStored(['journal'], () => void this.load());
    await this.load();
  }

  async load() {
    const [all, connection, [ended = null], journal] = await Promise.all([
      listShares(), connectionState(), endedShares(), read('journal', /** @type {Record<string, {shareId: string, outcome: unknown}>} */ ({})),
    ]);
    this._acting = new Set(Object.values(journal).flatMap(({shareId, outcome}) => (outcome ? [] : [shareId])));
    Object.assign(this, {all, connection, ended});
    this.notify();
  }

  /** @param {string} shareId */
  isActing(shareId) {
    return this._acting.has(shareId);
  }

  /** @param {number | undefined} tabId */
  ofTab(tabId) {
    return this.all.find((share) => share.tabId === tabId) ?? null;
  }
}

export const shares = new Shares();
