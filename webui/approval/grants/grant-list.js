/** What the user has allowed for later calls, as reported by the server; a new grant can be undone at once. */
import {client} from '../../client/client.js';
import {t} from '../../base/i18n.js';
import {Store} from '../../base/store.js';
import {toast, toastError} from '../../ui/toasts.js';
import {visibleText} from '../guard/visible-text.js';
import {callsText} from './grant-text.js';

/**
 * @typedef {object} Grant
 * @property {string} id
 * @property {'session' | 'always' | 'host'} scope  `host`: further reading from a host of the network
 * @property {string} [sessionId]
 * @property {string} caller
 * @property {string} tool
 * @property {Record<string, string>} arguments
 * @property {string} grantedBy
 * @property {number} grantedAt
 * @property {string} givenIn  the session; '': not known
 * @property {string | null} givenTitle  of that chat; null: it is gone or not known
 * @property {number | null} lastUsedAt
 *
 * @typedef {{decision: 'allow' | 'ask' | 'deny', reason: string, place: string, criteria: Record<string, any>}} Rule
 */

class GrantList extends Store {
  constructor() {
    super();
    /** @type {Grant[]} newest first */
    this.grants = [];
    /** @type {Rule[]} */
    this.rules = [];
    this.isLoaded = false;
    /** @type {unknown} */
    this.error = null;
    this._loads = 0;
    for (const pattern of ['grant.*', 'settings.changed', 'events.reset']) client.on(pattern, () => { if (this.isLoaded) void this.load(); });
  }

  async load() {
    const number = ++this._loads;
    try {
      const {grants, rules} = await client.get('/api/approvals/grants');
      if (number !== this._loads) return; // a newer request is in flight
      [this.grants, this.rules, this.isLoaded, this.error] = [grants.reverse(), rules, true, null];
    } catch (error) {
      this.error = error;
    }
    this.notify();
  }

  /** Take a grant back; calls like it are asked about again. @param {string} id */
  async revoke(id) {
    try {
      await client.del(`/api/approvals/grants/${encodeURIComponent(id)}`);
      toast(t('approval.grants.revoked'));
    } catch (error) {
      const {type} = /** @type {import('../../client/client.js').ApiError} */ (error);
      if (type !== 'grant_not_found') toastError(t('approval.grants.notRevoked'), error);
    }
    if (this.isLoaded) await this.load();
  }

  /** Show what was just given, with a button that takes it back. @param {string} id */
  async offerUndo(id) {
    try {
      const {grants} = await client.get('/api/approvals/grants');
      /** @type {Grant | undefined} */
      const grant = grants.find((/** @type {Grant} */ each) => each.id === id);
      if (!grant) return;
      const detail = `${scopeText(grant)}: ${visibleText(callsText(grant.tool, grant.arguments))}`;
      toast(t('approval.grants.given'), {detail, action: {label: t('approval.grants.undo'), run: () => void this.revoke(id)}});
    } catch {
      // the list in the settings shows it
    }
  }
}

/** Return where a grant holds. @param {Grant} grant */
export function scopeText({scope}) {
  return t(scope === 'always' ? 'approval.scope.always' : 'approval.scope.session');
}

export const grantList = new GrantList();
