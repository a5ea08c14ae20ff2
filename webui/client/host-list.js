/** The hosts on other machines, and pools of them, kept up to date for whoever lets a person choose one. */
import {client} from './client.js';
import {Store} from '../base/store.js';

/** @typedef {{name: string, kind: string, state: string, platform?: string, address?: string, size?: number}} Host  `size`: how many hosts a pool has; undefined: it is none */

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
      this.hosts = chosenFrom(hosts);
      this.isLoaded = true;
      this.notify();
    } catch {
      // without the list, calls go where they went; the view of hosts says what is wrong
    }
  }
}

/** A pool is chosen as a whole: which of its hosts takes a call is not a person's to say. @param {Host[]} hosts @returns {Host[]} */
function chosenFrom(hosts) {
  const inPools = hosts.filter(({kind}) => kind === 'member');
  return hosts.flatMap((host) => {
    if (host.kind === 'remote') return [host];
    return host.kind === 'nats' ? [{...host, size: inPools.filter(({name}) => name.startsWith(`${host.name}.`)).length}] : [];
  });
}

export const hostList = new HostList();
