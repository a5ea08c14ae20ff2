/** The modules of the server, kept up to date for whoever shows them. */
import {client} from './client.js';
import {inLocale, t} from '../base/i18n.js';
import {Store} from '../base/store.js';

/**
 * @typedef {object} Component
 * @property {string} tag
 * @property {string} script
 * @property {string | Record<string, string>} title  a text, or one for each language
 * @property {string} icon
 * @property {Record<string, string>} resourceViews  resource type to the tag that shows one
 * @property {string | null} pageScript
 */
/** @typedef {{subject: string, said: string, advice: string}} Note  with advice, something is to be done */
/** @typedef {{family: string, key: string, file: string, line: number | null, variable: string, text: string, isChanged: boolean, isSecretChanged: boolean}} Block  secrets are masked in its text */
/** @typedef {{source: string, version: string, file: string, isRefused: boolean, command: string}} Source */
/**
 * @typedef {object} Module
 * @property {string} name
 * @property {string} title
 * @property {string} description
 * @property {'missing' | 'loading' | 'ready' | 'failed' | 'stopping' | 'stopped'} state
 * @property {string} reason
 * @property {string} reloadError  why the code on the disk was not taken in place of the one that runs
 * @property {string} traceback
 * @property {boolean} listed
 * @property {string} distribution
 * @property {string} version
 * @property {string} file
 * @property {string | null} versionOnDisk  what a reload would run; null: it is not installed any more
 * @property {boolean} isChangedOnDisk
 * @property {string} versionBefore
 * @property {number | null} versionSince
 * @property {Source[]} others  what else has the name, and was not chosen
 * @property {string[]} requires
 * @property {string[]} tools
 * @property {string[]} problems
 * @property {Note[]} notes  what it says about its surroundings
 * @property {{method: string, path: string, kind: string}[]} routes
 * @property {number} callsInFlight
 * @property {number | null} startMs
 * @property {number | null} readyAt  another value: its code may be another one
 * @property {Component | null} component
 * @property {string[]} pageAdditions  what its element adds to the page's policy, and a script before all others
 * @property {string} settingsKey
 * @property {string} host  in which it runs; '': in the server
 * @property {Block | null} block  what of app.json it is made of, if it is one of a family
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
    /** How packages are installed for the server: the beginning of the command. */
    this.installCommand = '';
    /** @type {Promise<void> | null} */
    this._loading = null;
    this._isStale = false;
    client.on('module.stateChanged', (event) => this._note(event));
    for (const type of ['tools.changed', 'module.blocked', 'events.reset']) client.on(type, () => void this.load());
    client.on('settings.changed', ({module}) => { if (module === null) void this.load(); }); // blocks, and secrets that they name
    client.on('connection', (connection) => { if (connection === 'open') void this.load(); });
  }

  /** @param {string} name */
  find(name) {
    return this.modules.find((module) => module.name === name);
  }

  /** Modules that should run and do not. */
  get broken() {
    return this.modules.filter(({state}) => state === 'failed' || state === 'missing');
  }

  /** What modules that run would have a person do, such as a setting that a tool of theirs waits for. */
  get advised() {
    return this.modules.flatMap((module) => module.state === 'ready' ? adviceOf(module).map((note) => ({module, ...note})) : []);
  }

  /** Load the list; while it loads, further requests are one more load. */
  load() {
    this._isStale = true;
    this._loading ??= this._loadAll().finally(() => { this._loading = null; });
    return this._loading;
  }

  /** Put what a request told about one module in its place. @param {Module} module */
  put(module) {
    const place = this.modules.findIndex((known) => known.name === module.name);
    if (place < 0) this.modules = [...this.modules, module];
    else this.modules = this.modules.with(place, module);
    this.notify();
  }

  /** The state at once, the rest when it is loaded. @param {{module: string, state: Module['state'], reason: string}} event */
  _note({module, state, reason}) {
    const known = this.find(module);
    // what a module brings is known with the next load only, and one that is ready is shown with it
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

/** The host in which a tool runs; '': the server. @param {string} tool */
export function hostOfTool(tool) {
  return moduleList.modules.find(({tools}) => tools.includes(tool))?.host ?? '';
}

/** What a module would have a person do. @param {Module} module */
export function adviceOf({notes}) {
  return notes.filter(({advice}) => advice);
}

/** Whether nothing but a person's word is missing for a module to start. @param {Module} module */
export function waitsForPerson({state, others}) {
  return state === 'failed' && others.length > 0;
}

/** What lies on the disk in place of the version or the block that runs; '' where it is the same. @param {Module} module */
export function onDisk({state, version, versionOnDisk, block}) {
  if (state !== 'ready') return '';
  if (versionOnDisk === version) return block?.isChanged ? t('modules.blockChanged') : block?.isSecretChanged ? t('modules.secretChanged') : '';
  return versionOnDisk === null ? t('modules.goneOnDisk') : t('modules.onDisk', {version: versionOnDisk});
}

/** Scripts before ours, or another policy: only a new document can have these. @param {string} pageVersion  empty: the server stops */
async function isOutdated(pageVersion) {
  // once for each version: a page that is still another one after that would reload for ever
  if (!pageVersion || pageVersion === VERSION || sessionStorage.getItem(RELOADED_KEY) === pageVersion) return false;
  // a document that nobody sends leaves a white page without scripts, which would not come back by itself
  if (!(await fetch(location.pathname, {cache: 'no-store'})).ok) return false;
  sessionStorage.setItem(RELOADED_KEY, pageVersion);
  return true;
}

/** The list that all views share. */
export const moduleList = new ModuleList();

/** The title of a module's page, in the person's language. @param {Module} module */
export function componentTitle({component, title}) {
  const given = component?.title;
  if (typeof given === 'string') return given || title;
  return inLocale(given ?? {}) ?? title;
}
