/** The modules of the server, kept up to date for all views. */
import {client} from './client.js';
import {inLocale, t} from '../base/i18n.js';
import {Store} from '../base/store.js';

/**
 * @typedef {object} Component
 * @property {string} tag
 * @property {string} script
 * @property {string | Record<string, string>} title  a text, or one for each language
 * @property {string} icon
 * @property {Record<string, string>} resourceViews  maps a resource type to the tag that shows it
 * @property {string | null} pageScript
 * @property {'work' | 'manage'} group  the group of the sidebar that lists it
 */
/** @typedef {{subject: string, said: string, advice: string}} Note  with advice, the user should do something */
/** @typedef {{family: string, key: string, file: string, line: number | null, variable: string, text: string, isChanged: boolean, isSecretChanged: boolean}} Block  secrets are masked in its text */
/** @typedef {{source: string, version: string, file: string, isRefused: boolean, command: string}} Source */
/**
 * @typedef {object} Module
 * @property {string} name
 * @property {string} title
 * @property {string} description
 * @property {'missing' | 'loading' | 'ready' | 'failed' | 'stopping' | 'stopped'} state
 * @property {string} reason
 * @property {{reason: 'login' | 'network' | 'program' | 'retry', said: string, retryAt: number | null} | null} waiting  why it cannot work although it is ready
 * @property {string} reloadError  why the code on disk did not replace the running code
 * @property {string} traceback
 * @property {string} output  what the program wrote whose failure it was
 * @property {boolean} listed
 * @property {string} distribution
 * @property {string} version
 * @property {string} file
 * @property {string | null} versionOnDisk  the version that a reload would run; null: it is no longer installed
 * @property {boolean} isChangedOnDisk
 * @property {string} versionBefore
 * @property {number | null} versionSince
 * @property {Source[]} others  other sources of the name, which were not chosen
 * @property {string[]} requires
 * @property {string[]} tools
 * @property {string[]} problems
 * @property {Note[]} notes  diagnostics about its environment
 * @property {{method: string, path: string, kind: string}[]} routes
 * @property {number} callsInFlight
 * @property {number | null} startMs
 * @property {number | null} readyAt  when it became ready; if this changes, its code may have changed
 * @property {Component | null} component
 * @property {string[]} pageAdditions  additions of its element to the page: sources for the policy, a script before all others
 * @property {string} settingsKey
 * @property {string} host  the host in which it runs; '': the server
 * @property {Block | null} block  the block of app.json that defines it, if it belongs to a family
 */

const RELOADED_KEY = 'agentcore.reloadedFor';
const VERSION = /** @type {HTMLMetaElement} */ (document.querySelector('meta[name="agentcore-page-version"]'))?.content;

class ModuleList extends Store {
  constructor() {
    super();
    /** @type {Module[]} */
    this.modules = [];
    /** @type {unknown} */
    this.error = null;
    this.isLoaded = false;
    /** The start of the command that installs packages for the server. */
    this.installCommand = '';
    /** @type {Promise<void> | null} */
    this._loading = null;
    this._isStale = false;
    client.on('module.stateChanged', (event) => this._note(event));
    for (const type of ['tools.changed', 'module.blocked', 'events.reset']) client.on(type, () => void this.load());
    client.on('settings.changed', ({module}) => { if (module === null) void this.load(); }); // blocks, and secrets that they refer to
    client.on('connection', (connection) => { if (connection === 'open') void this.load(); });
  }

  /** @param {string} name */
  find(name) {
    return this.modules.find((module) => module.name === name);
  }

  /** Modules that should work but do not. */
  get broken() {
    return this.modules.filter((module) => isBroken(module));
  }

  /** The advice of running modules to the user, such as a setting that one of their tools needs. */
  get advised() {
    return this.modules.flatMap((module) => module.state === 'ready' ? adviceOf(module).map((note) => ({module, ...note})) : []);
  }

  /** Load the list; requests that arrive meanwhile cause one more load. */
  load() {
    this._isStale = true;
    this._loading ??= this._loadAll().finally(() => { this._loading = null; });
    return this._loading;
  }

  /** Replace or add one module, as returned by a request. @param {Module} module */
  put(module) {
    const place = this.modules.findIndex((known) => known.name === module.name);
    if (place < 0) this.modules = [...this.modules, module];
    else this.modules = this.modules.with(place, module);
    this.notify();
  }

  /** Show the new state at once, and the rest when it is loaded. @param {{module: string, state: Module['state'], reason: string}} event */
  _note({module, state, reason}) {
    const known = this.find(module);
    // what a ready module provides is only known after the next load, so it is shown as ready only then
    if (known && state !== 'ready') this.put({...known, state, reason});
    void this.load();
  }

  async _loadAll() {
    while (this._isStale) {
      this._isStale = false;
      try {
        const {modules, pageVersion, installCommand} = await client.get('/api/modules');
        if (await isOutdated(pageVersion)) return location.reload();
        this.modules = modules;
        this.installCommand = installCommand;
        this.error = null;
        this.isLoaded = true;
      } catch (error) {
        this.error = error;
      }
      this.notify();
    }
  }
}

/** Return the host in which a tool runs; '' for the server. @param {string} tool */
export function hostOfTool(tool) {
  return moduleList.modules.find(({tools}) => tools.includes(tool))?.host ?? '';
}

/** Return the notes of a module that advise the user. @param {Module} module */
export function adviceOf({notes}) {
  return notes.filter(({advice}) => advice);
}

/** True if a module only needs the user's decision to start. @param {Module} module */
export function waitsForPerson({state, others}) {
  return state === 'failed' && others.length > 0;
}

/** True if a module does not run, or cannot work although it does. @param {Module} module */
export function isBroken({state, waiting}) {
  return state === 'failed' || state === 'missing' || Boolean(waiting);
}

/** Return the state of a module to show: its own, or what it waits for. @param {Module} module */
export function shownState(module) {
  if (waitsForPerson(module)) return 'waits';
  return module.state === 'ready' && module.waiting ? module.waiting.reason : module.state;
}

/** Return the reason why a module does not work; '' if it does. @param {Module} module */
export function reasonOf({waiting, reason}) {
  return waiting?.said ?? reason;
}

/** Describe the difference between the version or block on disk and the running one; '' if they are the same. @param {Module} module */
export function onDisk({state, version, versionOnDisk, block}) {
  if (state !== 'ready') return '';
  if (versionOnDisk === version) return block?.isChanged ? t('modules.blockChanged') : block?.isSecretChanged ? t('modules.secretChanged') : '';
  return versionOnDisk === null ? t('modules.goneOnDisk') : t('modules.onDisk', {version: versionOnDisk});
}

/** True if the page has to reload: other page scripts or another policy need a new document. @param {string} pageVersion  empty: the server is stopping */
async function isOutdated(pageVersion) {
  // once per version: a page that still differs after that would reload forever
  if (!pageVersion || pageVersion === VERSION || sessionStorage.getItem(RELOADED_KEY) === pageVersion) return false;
  // if the document cannot be loaded, reloading would leave a blank page without scripts, which could not recover by itself
  if (!(await fetch(location.pathname, {cache: 'no-store'})).ok) return false;
  sessionStorage.setItem(RELOADED_KEY, pageVersion);
  return true;
}

/** The list shared by all views. */
export const moduleList = new ModuleList();

/** Return the title of a module's page in the user's language. @param {Module} module */
export function componentTitle({component, title}) {
  const given = component?.title;
  if (typeof given === 'string') return given || title;
  return inLocale(given ?? {}) ?? title;
}
