/** Living resources that a module has a view for, such as browsers and terminals: each is a tab. */
import {client} from './client.js';
import {moduleList} from './module-list.js';
import {Store} from './store.js';

/** @typedef {{resourceId: string, resourceType: string, chatSessionId: string, index: number, status: string, lastUrl: string, title: string | null}} Resource */

class ResourceTabs extends Store {
  constructor() {
    super();
    /** @type {Resource[]} */
    this._resources = [];
    client.on('resource.stateChanged', (resource) => this._put(resource));
    client.on('events.reset', () => void this.load());
    client.on('connection', (connection) => { if (connection === 'open') void this.load(); });
    moduleList.subscribe(() => this.tell());
  }

  /** The resources that can be shown, with the module that shows them. */
  get tabs() {
    return this._resources.flatMap((resource) => {
      const module = viewerOf(resource);
      return module ? [{resource, module}] : [];
    });
  }

  /** The element that shows a resource. @param {string} resourceId */
  tagOf(resourceId) {
    const found = this.tabs.find(({resource}) => resource.resourceId === resourceId);
    return found?.module.component?.resourceViews[found.resource.resourceType];
  }

  async load() {
    try {
      this._resources = (await client.get('/api/resources')).resources;
      this.tell();
    } catch {
      // the connection's own state tells that the server is away, and its return loads this again
    }
  }

  /** End a resource. @param {string} resourceId */
  close(resourceId) {
    return client.del(`/api/resources/${encodeURIComponent(resourceId)}`);
  }

  /** @param {Resource} resource */
  _put(resource) {
    const others = this._resources.filter(({resourceId}) => resourceId !== resource.resourceId);
    const place = this._resources.findIndex(({resourceId}) => resourceId === resource.resourceId);
    if (resource.status === 'closed') this._resources = others;
    else if (place < 0) this._resources = [...others, resource];
    else this._resources = this._resources.with(place, resource);
    this.tell();
  }
}

/** @param {Resource} resource */
function viewerOf({resourceType}) {
  return moduleList.modules.find(({state, component}) => state === 'ready' && component?.resourceViews[resourceType]);
}

export const resourceTabs = new ResourceTabs();
