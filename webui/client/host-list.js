/** The hosts on other machines, kept up to date for whoever lets a person choose one. */
import {client} from './client.js';
import {Store} from '../base/store.js';

/** @typedef {{name: string, kind: string, state: string, platform?: string, address?: string}} Host */

const SETTLE_MS = 300;
const CHANGES = ['host.stateChanged', 'hosts.changed', 'events.reset'];

class HostList extends Store {
  constructor() {
    super();
    /** @type {Host[]} */
    this.hosts = [];
    this.isLoaded = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this._timer = undefined;
    for (const type of CHANGES) client.on(type, () => this._soon());
    client.on('connection', (connection) => { if (connection === 'open' && this.isLoaded) this._soon(); });
  }

  /** Load them, unless they are there. */
  async begin() {
    if (!this.isLoaded) await this._load();
  }

  /** @param {string} name */
  find(name) {
    return this.hosts.find((host) => host.name === name);
  }

  /** Of hosts that somebody wants, the first that is connected, else the first; `''`: none is wanted. @param {string[]} names */
  choose(names) {
    return names.find((name) => this.find(name)?.state === 'running') ?? names[0] ?? '';
  }

  _soon() {
    if (!this.isLoaded) return;
    clearTimeout(this._timer);
    this._timer = setTimeout(() => void this._load(), SETTLE_MS);
  }

  async _load() {
    try {
      const {hosts} = await client.get('/api/hosts');
      this.hosts = /** @type {Host[]} */ (hosts).filter(({kind}) => kind === 'remote');
      this.isLoaded = true;
      this.notify();
    } catch {
      // without the list, calls go where they went; the view of hosts says what is wrong
    }
  }
}

export const hostList = new HostList();
