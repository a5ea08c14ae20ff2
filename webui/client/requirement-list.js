/** The requirements of modules on the machine, kept up to date for all views. */
import {client} from './client.js';
import {Store} from '../base/store.js';

/** @typedef {string | Record<string, string>} LocalizedText */
/**
 * @typedef {object} Requirement
 * @property {string} name
 * @property {string} host  '': this machine
 * @property {string[]} modules  that declare it
 * @property {LocalizedText} title
 * @property {LocalizedText} purpose
 * @property {LocalizedText} installs  what installing does to the machine
 * @property {string} command  installs it, in a terminal
 * @property {number} downloadBytes  0: unknown
 * @property {boolean} isRequired
 * @property {boolean} isInstallable
 * @property {'met' | 'missing' | 'installing' | 'unknown'} state
 * @property {LocalizedText} text  what was found, or what is missing
 * @property {LocalizedText | null} progress
 * @property {number | null} fraction
 * @property {string} error  why the last installation failed
 * @property {boolean} isDeclined
 * @property {string} changeId  the decision that is pending in the approval view
 */

class RequirementList extends Store {
  constructor() {
    super();
    /** @type {Requirement[]} */
    this.requirements = [];
    /** @type {Promise<void> | null} */
    this._loading = null;
    this._isStale = false;
    for (const type of ['requirement.declared', 'requirement.changed', 'module.stateChanged', 'policy.requested', 'policy.decided', 'events.reset']) client.on(type, () => void this.load());
    client.on('requirement.progress', ({name, text, fraction}) => this._takeProgress(name, text, fraction));
    client.on('connection', (connection) => { if (connection === 'open') void this.load(); });
  }

  /** Return the requirements that are missing, being installed or failed to install, of one module or of all. @param {string} [module] */
  unmet(module) {
    return this.requirements.filter(({state, modules, error}) => (state === 'missing' || state === 'installing' || error) && (!module || modules.includes(module)));
  }

  /** Load the list; requests that arrive meanwhile cause one more load. */
  load() {
    this._isStale = true;
    this._loading ??= this._loadAll().finally(() => { this._loading = null; });
    return this._loading;
  }

  /** Request an installation, which the user approves in the approval view. @param {Requirement} requirement */
  install({name}) {
    return client.post(`/api/requirements/${encodeURIComponent(name)}/install`);
  }

  /** @param {Requirement} requirement */
  async cancel({name}) {
    await client.del(`/api/requirements/${encodeURIComponent(name)}/install`);
    await this.load();
  }

  /** Check again, after something was installed by hand. */
  async check() {
    this.requirements = (await client.post('/api/requirements/check')).requirements;
    this.notify();
  }

  /** @param {string} name @param {LocalizedText} progress @param {number | null} fraction */
  _takeProgress(name, progress, fraction) {
    this.requirements = this.requirements.map((each) => each.name === name && !each.host ? {...each, state: 'installing', progress, fraction} : each);
    this.notify();
  }

  async _loadAll() {
    while (this._isStale) {
      this._isStale = false;
      try {
        this.requirements = (await client.get('/api/requirements')).requirements;
      } catch {
        return; // the connection state shows the error, and reconnecting loads the list again
      }
      this.notify();
    }
  }
}

/** The list shared by all views. */
export const requirementList = new RequirementList();
