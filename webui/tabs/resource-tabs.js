/** The tab strip: entries stored by the server, each for a resource for which a module has a view. */
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
 * @property {string | null} icon  changes with the image at `/api/resources/{id}/icon`
 * @property {boolean} keepRunning
 * @property {string} [host]  the host on another machine that runs it; absent if the server does
 */
/**
 * The last state of a resource that ended without being closed, and the call that opens a new one in its place.
 * @typedef {{resourceType: string, chatSessionId: string, index: number, title: string | null, lastUrl: string | null,
 *   icon: string | null, tool: string, arguments: Record<string, unknown>, host: string, lostBy: string}} Closed
 */
/** @typedef {{tabId: string, resourceId: string, title: string | null, pinned: boolean, lastActiveAt: number, closed: Closed | null}} Tab */
/** A tab with its resource, or with the last state of a closed one. @typedef {{tab: Tab, resource: Resource, module: import('../client/module-list.js').Module}} ShownTab */

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
    /** Resources that changed during a load, whose answer may be older. @type {Resource[]} */
    this._changed = [];
    /** Closed tabs that are being reopened: `working`, or `waiting` for approval. @type {Map<string, 'working' | 'waiting'>} */
    this._opening = new Map();
    /** Former resources of tabs, mapped to the resources that replaced them. @type {Map<string, string>} */
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

  /** Return the tag of the element that shows a resource, with or without a tab. @param {string} resourceId */
  tagOf(resourceId) {
    const resource = this._resources.get(resourceId);
    return resource && viewerOf(resource)?.component?.resourceViews[resource.resourceType];
  }

  /** Return the host on another machine that runs a resource, or '' for the server. @param {string} resourceId */
  hostOf(resourceId) {
    return this._resources.get(resourceId)?.host ?? '';
  }

  /** Return the resource that replaced an ended one in its tab. @param {string} resourceId @returns {string | undefined} */
  replaced(resourceId) {
    return this._replaced.get(resourceId);
  }

  /** Load resources and tabs; requests during a load are merged into one further load. */
  load() {
    this._isStale = true;
    this._loading ??= this._loadAll().finally(() => { this._loading = null; });
    return this._loading;
  }

  /** Return the tab of a resource that ended with the server. @param {string} resourceId @returns {ShownTab | undefined} */
  closed(resourceId) {
    return this.tabs.find(({tab, resource}) => tab.resourceId === resourceId && resource.status === 'closed');
  }

  /** Return the state of a closed tab that is being reopened. @param {string} tabId */
  opening(tabId) {
    return this._opening.get(tabId);
  }

  /**
   * Open a new resource in place of a closed one. This is an ordinary tool call, which waits for approval if it needs one.
   * @param {Tab} tab  closed
   * @returns {Promise<string>} the new resource's ID, or '' if it is being opened already
   */
  async reopen({tabId, closed}) {
    if (!closed || this._opening.has(tabId)) return '';
    this._setOpening(tabId, 'working');
    try {
      // only on its own host: the host supplies the call, and must not make the server carry it out
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

  /** Bring a resource's tab to the front, creating one if it has none. @param {string} resourceId */
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

  /** Set whether a resource keeps running when its tab is closed. @param {string} resourceId @param {boolean} keepRunning */
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
      this._changed = [];
      try {
        const [{resources}, {tabs}] = await Promise.all([client.get('/api/resources'), client.get('/api/tabs')]);
        this._resources = new Map(resources.map((/** @type {Resource} */ resource) => [resource.resourceId, resource]));
        for (const resource of this._changed) this._keep(resource);
        this._noteReplaced(tabs);
        this._tabs = tabs;
        this.isLoaded = true;
        this.notify();
      } catch {
        // the connection state shows that the server is unreachable; reconnecting loads this again
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
    if (this._loading) this._changed.push(resource);
    this._keep(resource);
    this.notify();
  }

  /** @param {Resource} resource */
  _keep(resource) {
    if (resource.status === 'closed') this._resources.delete(resource.resourceId);
    else this._resources.set(resource.resourceId, resource);
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

/** Return a tab's name: the user's name for it, the resource's title or URL, or its type and number. @param {ShownTab} shown */
export function nameOf({tab, resource}) {
  if (tab.title || resource.title) return /** @type {string} */ (tab.title || resource.title);
  if (resource.lastUrl && resource.lastUrl !== 'about:blank') return resource.lastUrl;
  const type = resource.resourceType.replaceAll('_', ' ');
  return t('tabs.unnamed', {type: `${type.charAt(0).toUpperCase()}${type.slice(1)}`, n: resource.index + 1});
}

/** Return the last state of a resource that ended with the server. @param {Tab} tab @returns {Resource | undefined} */
function closedOf({resourceId, closed}) {
  return closed ? {...closed, resourceId, status: 'closed', keepRunning: false} : undefined;
}

/** @param {Resource} resource */
function viewerOf({resourceType}) {
  return moduleList.modules.find(({state, component}) => state === 'ready' && component?.resourceViews[resourceType]);
}

export const resourceTabs = new ResourceTabs();
