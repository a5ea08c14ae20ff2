/** The hosts on other machines and their pools, kept up to date, for the user to choose from. */
import {client} from './client.js';
import {Store} from '../base/store.js';

/** @typedef {{name: string, kind: string, state: string, platform?: string, address?: string, size?: number}} Host  `size`: the number of hosts in a pool; undefined: not a pool */

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
    this._loads = 0;
    for (const type of CHANGES) client.on(type, () => this._soon());
    client.on('connection', (connection) => { if (connection === 'open' && this.isLoaded) this._soon(); });
  }

  /** Load the hosts, unless they are already loaded. */
  async begin() {
    if (!this.isLoaded) await this._load();
  }

  /** @param {string} name */
  find(name) {
    return this.hosts.find((host) => host.name === name);
  }

  /** Return the first connected host of those requested, else the first one; `''` if none is requested. @param {string[]} names */
  choose(names) {
    return names.find((name) => this.find(name)?.state === 'running') ?? names[0] ?? '';
  }

  _soon() {
    if (!this.isLoaded) return;
    clearTimeout(this._timer);
    this._timer = setTimeout(() => void this._load(), SETTLE_MS);
  }

  async _load() {
    const number = ++this._loads;
    try {
      const {hosts} = await client.get('/api/hosts');
      if (number !== this._loads && this.isLoaded) return; // a newer request is in flight
      this.hosts = chosenFrom(hosts);
      this.isLoaded = true;
      this.notify();
    } catch {
      // without the list, calls go where they went before; the hosts view shows the error
    }
  }
}

/** Return the hosts that the user can choose; a pool is one choice, as the user does not select which of its hosts runs a call. @param {Host[]} hosts @returns {Host[]} */
function chosenFrom(hosts) {
  const inPools = hosts.filter(({kind}) => kind === 'member');
  return hosts.flatMap((host) => {
    if (host.kind === 'remote') return [host];
    if (host.kind === 'process' || host.kind === 'member') return [];
    return [{...host, size: inPools.filter(({name}) => name.startsWith(`${host.name}.`)).length}]; // `nats`, or another kind of pools that a package adds
  });
}

export const hostList = new HostList();
