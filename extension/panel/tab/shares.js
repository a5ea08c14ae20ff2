/** The tabs that are shared with chats, as the worker keeps them. */
import {Store} from '../../webui/base/store.js';
import {onStored, read} from '../stored.js';
import {connectionState, endedShares, listShares, onChanged} from '../../worker/api.js';

/** @typedef {import('../../worker/api.js').Share} Share */

class Shares extends Store {
  constructor() {
    super();
    /** @type {Share[]} */
    this.all = [];
    /** Whether the server is reached for them. */
    this.connection = 'off';
    /** Those in which something is done now. @type {Set<string>} */
    this._acting = new Set();
    /** What ended last. @type {import('../../worker/api.js').EndedShare | null} */
    this.ended = null;
  }

  /** Follow them, for as long as the document lives. */
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
