/** The strip of tabs: entries that the server keeps, each for a living resource that a module has a view for. */
import {ApiError, client} from '../client/client.js';
import {t} from '../base/i18n.js';
import {moduleList} from '../client/module-list.js';
import {Store} from '../base/store.js';

/**
 * @typedef {object} Resource
 * @property {string} resourceId
 * @property {string} resourceType
 * @property {string} chatSessionId
 * @property {number} index
 * @property {'starting' | 'ready' | 'busy' | 'failed' | 'finished' | 'closed'} status
 * @property {string | null} lastUrl
 * @property {string | null} title
 * @property {string | null} icon  changes with the picture at `/api/resources/{id}/icon`
 * @property {boolean} keepRunning
 * @property {string} [host]  the host on another machine where it is; left out: the server
 */
/**
 * What stays of a resource that ended without being closed, and the call that opens another one in its place.
 * @typedef {{resourceType: string, chatSessionId: string, index: number, title: string | null, lastUrl: string | null,
 *   icon: string | null, tool: string, arguments: Record<string, unknown>, host: string, lostBy: string}} Closed
 */
/** @typedef {{tabId: string, resourceId: string, title: string | null, pinned: boolean, lastActiveAt: number, closed: Closed | null}} Tab */
/** A tab with its resource, one that is closed with how that was. @typedef {{tab: Tab, resource: Resource, module: import('../client/module-list.js').Module}} ShownTab */

class ResourceTabs extends Store {
  constructor() {
    super();
    /** @type {Map<string, Resource>} */
    this._resources = new Map();
    /** @type {Tab[]} */
    this._tabs = [];
    this.isLoaded = false;
    /** @type {Promise<void> | null} */
    this._loading = null;
    this._isStale = false;
    /** Closed tabs that are being opened again: `working`, or `waiting` for a person. @type {Map<string, 'working' | 'waiting'>} */
    this._opening = new Map();
    /** Resources whose tabs have become others', which are in their place. @type {Map<string, string>} */
    this._replaced = new Map();
    client.on('resource.stateChanged', (resource) => this._put(resource));
    client.on('tabs.changed', () => void this.load());
    client.on('events.reset', () => void this.load());
    client.on('connection', (connection) => { if (connection === 'open') void this.load(); });
    moduleList.subscribe(() => this.notify());
  }

  /** Tabs whose resources can be shown, from left to right. @returns {ShownTab[]} */
  get tabs() {
    return this._tabs.flatMap((tab) => {
      const resource = this._resources.get(tab.resourceId) ?? closedOf(tab);
      const module = resource && viewerOf(resource);
      return module ? [{tab, resource, module}] : [];
    });
  }

  /** The element that shows a resource, with a tab or without. @param {string} resourceId */
  tagOf(resourceId) {
    const resource = this._resources.get(resourceId);
    return resource && viewerOf(resource)?.component?.resourceViews[resource.resourceType];
  }

  /** The host on another machine where a resource is; empty: it is the server. @param {string} resourceId */
  hostOf(resourceId) {
    return this._resources.get(resourceId)?.host ?? '';
  }

  /** The resource that has taken the tab of one that ended. @param {string} resourceId @returns {string | undefined} */
  replaced(resourceId) {
    return this._replaced.get(resourceId);
  }

  /** Load what there is; while it loads, further requests are one more load. */
  load() {
    this._isStale = true;
    this._loading ??= this._loadAll().finally(() => { this._loading = null; });
    return this._loading;
  }

  /** The tab of a resource that ended with the server. @param {string} resourceId @returns {ShownTab | undefined} */
  closed(resourceId) {
    return this.tabs.find(({tab, resource}) => tab.resourceId === resourceId && resource.status === 'closed');
  }

  /** How far a closed tab is that is being opened again. @param {string} tabId */
  opening(tabId) {
    return this._opening.get(tabId);
  }

  /**
   * Open another resource in the place of a closed one, as any caller does: where that is confirmed first, it waits for it.
   * @param {Tab} tab  closed
   * @returns {Promise<string>} the new resource's id; empty: it is being opened already
   */
  async reopen({tabId, closed}) {
    if (!closed || this._opening.has(tabId)) return '';
    this._setOpening(tabId, 'working');
    try {
      // on its host and nowhere else: a host says which call that is, and must not have the server make it
      const host = closed.host || undefined;
      const options = {sessionId: closed.chatSessionId, host, onApproval: () => this._setOpening(tabId, 'waiting')};
      const {ok, resourceId = '', error} = await client.call(closed.tool, closed.arguments, options);
      if (!ok) throw new ApiError(error ?? {});
      await client.post('/api/tabs', {resourceId, tabId});
      return resourceId;
    } finally {
      this._setOpening(tabId, null);
      await this.load();
    }
  }

  /** Bring a resource's tab to the front; it gets one if it has none. @param {string} resourceId */
  async show(resourceId) {
    const shown = await client.post('/api/tabs', {resourceId});
    this._tabs = this._tabs.map((tab) => (tab.tabId === shown.tabId ? shown : tab));
  }

  /**
   * Pin, rename or move a tab; the strip shows a move at once.
   * @param {string} tabId
   * @param {{pinned?: boolean, title?: string, before?: string}} wanted  `before`: a tab, or empty for the end
   */
  async change(tabId, wanted) {
    if (wanted.before !== undefined) this._move(tabId, wanted.before);
    try {
      await client.patch(`/api/tabs/${encodeURIComponent(tabId)}`, wanted);
    } finally {
      await this.load();
    }
  }

  /** Have a resource go on, or end, when its tab is closed. @param {string} resourceId @param {boolean} keepRunning */
  keepRunning(resourceId, keepRunning) {
    return client.patch(`/api/resources/${encodeURIComponent(resourceId)}`, {keepRunning});
  }

  /** Close a tab. @param {string} tabId @returns {Promise<{released: boolean}>} whether its resource ended */
  async close(tabId) {
    const answer = await client.del(`/api/tabs/${encodeURIComponent(tabId)}`);
    await this.load();
    return answer;
  }

  /** @param {string} tabId @param {'working' | 'waiting' | null} state */
  _setOpening(tabId, state) {
    if (state) this._opening.set(tabId, state);
    else this._opening.delete(tabId);
    this.notify();
  }

  async _loadAll() {
    while (this._isStale) {
      this._isStale = false;
      try {
        const [{resources}, {tabs}] = await Promise.all([client.get('/api/resources'), client.get('/api/tabs')]);
        this._resources = new Map(resources.map((/** @type {Resource} */ resource) => [resource.resourceId, resource]));
        this._noteReplaced(tabs);
        this._tabs = tabs;
        this.isLoaded = true;
        this.notify();
      } catch {
        // the connection's own state tells that the server is away, and its return loads this again
      }
    }
  }

  /** @param {Tab[]} tabs  as they are now */
  _noteReplaced(tabs) {
    for (const {tabId, resourceId} of tabs) {
      const former = this._tabs.find((tab) => tab.tabId === tabId)?.resourceId;
      if (former && former !== resourceId) this._replaced.set(former, resourceId);
    }
  }

  /** @param {Resource} resource */
  _put(resource) {
    if (resource.status === 'closed') this._resources.delete(resource.resourceId);
    else this._resources.set(resource.resourceId, resource);
    this.notify();
  }

  /** @param {string} tabId @param {string} before */
  _move(tabId, before) {
    const moved = this._tabs.find((tab) => tab.tabId === tabId);
    const others = this._tabs.filter((tab) => tab !== moved);
    if (!moved) return;
    const end = moved.pinned ? others.filter((tab) => tab.pinned).length : others.length;
    const place = before ? others.findIndex((tab) => tab.tabId === before) : end;
    if (place < 0) return;
    this._tabs = others.toSpliced(place, 0, moved);
    this.notify();
  }
}

/** What a tab is called: as a person named it, as the resource calls itself, or its kind and number. @param {ShownTab} shown */
export function nameOf({tab, resource}) {
  if (tab.title || resource.title) return /** @type {string} */ (tab.title || resource.title);
  if (resource.lastUrl && resource.lastUrl !== 'about:blank') return resource.lastUrl;
  const type = resource.resourceType.replaceAll('_', ' ');
  return t('tabs.unnamed', {type: `${type.charAt(0).toUpperCase()}${type.slice(1)}`, n: resource.index + 1});
}

/** A resource that ended with the server, as it was. @param {Tab} tab @returns {Resource | undefined} */
function closedOf({resourceId, closed}) {
  return closed ? {...closed, resourceId, status: 'closed', keepRunning: false} : undefined;
}

/** @param {Resource} resource */
function viewerOf({resourceType}) {
  return moduleList.modules.find(({state, component}) => state === 'ready' && component?.resourceViews[resourceType]);
}

export const resourceTabs = new ResourceTabs();
