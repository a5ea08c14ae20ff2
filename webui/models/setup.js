/** Setup for chats: agents, models, providers and their keys, approval modes. */
import {client} from '../client/client.js';
import {Store} from '../base/store.js';

/**
 * @typedef {{id: string, model?: string | null, mode: string, instructions: string, hosts?: string[]}} Agent
 * @typedef {object} Model
 * @property {string} name
 * @property {string} provider
 * @property {string} model
 * @property {string | null} [baseUrl]
 * @property {boolean} isUsable
 * @property {string | null} [hint]  what is missing
 * @typedef {object} Provider
 * @property {string} provider  its name
 * @property {string} service  what it is
 * @property {Record<string, string>} label  by language
 * @property {string} ownBaseUrl  used if no other address is set
 * @property {string | null} baseUrl
 * @property {boolean} hasKey
 * @property {'environment' | 'stored' | null} keyOrigin
 * @property {boolean} [isFixed]  set by the environment: input has no effect
 * @property {Record<string, string>} [addresses]  base URLs of similar services, by name
 * @property {string} [keyPrefix]  prefix of its own keys
 * @property {boolean} [isSetUp]  it can be asked
 * @property {boolean} [isNamed]  app.json names it, and its address is changed there
 * @property {boolean} [isNew]  it is being added, and nothing of it is stored yet
 * @property {string} [exampleUrl]  form of its addresses
 * @property {boolean} [isLocal]
 * @typedef {{service: string, label: Record<string, string>, ownBaseUrl: string, exampleUrl: string, keyPrefix: string, isLocal: boolean}} Service
 * @typedef {{baseUrl: string | null, models: string[], suggested: string | null, isOnlyChoice: boolean}} TestedProvider
 * @typedef {{kind: string, label: string, baseUrl: string}} LocalPlace  address at which a kind of server is searched on this machine
 * @typedef {object} LocalServer
 * @property {string} kind
 * @property {string} baseUrl
 * @property {string[]} models
 * @property {boolean} needsKey  it answers nothing else without a key
 * @property {string | null} provider  whose key opened it
 */

/**
 * What happens once a change takes effect: the models of a provider are listed, or a model is used.
 * @typedef {{list: string} | {use: string}} NextStep
 */

/** Errors of a chat that another model or another key fixes. */
const OF_MODELS = new Set(['model_not_configured', 'model_not_found', 'provider_unauthorized']);

/** @param {string | undefined} errorType */
export const isAboutModels = (errorType) => OF_MODELS.has(errorType ?? '');

/** Modes that every server has; the server's own list is shown in its order. */
const MODES = ['ask', 'accept_edits', 'ask_writes', 'plan', 'allow', 'deny'];

export class ChatSetup extends Store {
  constructor() {
    super();
    this.isLoaded = false;
    this.isSetUp = false;
    this.hint = '';
    this.defaultModel = '';
    /** @type {Agent[]} */
    this.agents = [];
    /** @type {Model[]} */
    this.models = [];
    /** @type {Provider[]} */
    this.providers = [];
    /** Services of which providers can be added. @type {Service[]} */
    this.services = [];
    /** Models that the providers list, once they were asked for. @type {Map<string, string[]>} */
    this.offered = new Map();
    /** @type {LocalPlace[]} */
    this.localServers = [];
    this.modes = MODES;
    /** The workspace folders that tools work in. @type {string[]} */
    this.folders = [];
    /** @type {unknown} */
    this.error = null;
    /** @type {Promise<void> | null} */
    this._loading = null;
    this._isStale = false;
    /** Provider whose models are offered, because its key or address has just been stored. */
    this.listed = '';
    /** @type {Set<string>} Providers that refused their key at the last request. */
    this.refused = new Set();
    /** @type {Map<string, NextStep>} By the id of the change that the user has to confirm. */
    this._waiting = new Map();
    /** @type {NextStep | null} */
    this._next = null;
    // a pending key or model may be available now
    client.on('policy.decided', (event) => void this._onDecided(event));
    client.on('settings.changed', () => void this.load());
    client.on('connection', (connection) => { if (connection === 'open' && this.isLoaded) void this.load(); });
  }

  /** Load the setup (again); concurrent calls share one load. */
  load() {
    if (this._loading) this._isStale = true; // its response may be outdated
    this._loading ??= this._loadAll().finally(() => { this._loading = null; });
    return this._loading;
  }

  async _loadAll() {
    do {
      this._isStale = false;
      await this._load();
    } while (this._isStale);
  }

  /** Return and clear the next step of a change that has taken effect; the caller continues with it. @returns {NextStep | null} */
  takeNext() {
    const next = this._next;
    this._next = null;
    return next;
  }

  /** End the choice of a model. */
  endChoice() {
    if (!this.listed) return;
    this.listed = '';
    this.notify();
  }

  /** The providers that can be asked. */
  get usable() {
    return this.providers.filter(({isSetUp}) => isSetUp);
  }

  /** Return a provider of this service that is not set up yet, under a name that is free. @param {string} name */
  newProvider(name) {
    const service = this.services.find((one) => one.service === name);
    if (!service) return null;
    const isTaken = (/** @type {string} */ wanted) => this.providers.some(({provider}) => provider === wanted);
    let provider = name;
    for (let n = 2; isTaken(provider); n += 1) provider = `${name}-${n}`;
    return /** @type {Provider} */ ({...service, provider, baseUrl: null, hasKey: false, keyOrigin: null, isNew: true});
  }

  /** Ask the providers for their models, each once until the setup changes. */
  async loadOffered() {
    await Promise.allSettled(this.usable.filter(({provider}) => !this.offered.has(provider)).map(async ({provider}) => {
      this.offered.set(provider, []);
      try {
        this.offered.set(provider, (await this.modelsOf(provider)).models);
      } catch {
        this.offered.delete(provider); // asked again when the menu is opened again
      }
    }));
    this.notify();
  }

  /** Ask a provider for its models with a key or an address that is not stored. @param {string} provider @param {{key?: string, baseUrl?: string, service?: string}} entered @param {AbortSignal} signal @returns {Promise<TestedProvider>} */
  testProvider(provider, entered, signal) {
    return client.post(`/api/chat/providers/${provider}/test`, entered, {signal});
  }

  /** Store a provider's key or address on the server. A stored key is never returned. @param {string} provider @param {{key?: string, baseUrl?: string, service?: string}} given @param {TestedProvider | null} tested  result of a test, if there was one */
  async keepProvider(provider, given, tested) {
    const next = tested?.isOnlyChoice && tested.suggested ? {use: `${provider}:${tested.suggested}`} : {list: provider};
    await this._change(() => client.put(`/api/chat/providers/${provider}`, given), next, provider);
  }

  /** Delete what is stored for a provider. @param {string} provider */
  async dropProvider(provider) {
    await client.del(`/api/chat/providers/${provider}`);
    this.refused.delete(provider);
    await this.load();
  }

  /** Return the names of the models that a provider reports, and the suggested one. @param {string} provider @returns {Promise<{models: string[], suggested: string | null}>} */
  async modelsOf(provider) {
    try {
      const found = await client.post(`/api/chat/providers/${provider}/models`, {});
      this._setRefused(provider, false);
      return found;
    } catch (error) {
      this._setRefused(provider, /** @type {import('../client/client.js').ApiError} */ (error).type === 'provider_unauthorized');
      throw error;
    }
  }

  /** @param {string} provider @param {boolean} isRefused */
  _setRefused(provider, isRefused) {
    if (this.refused.has(provider) === isRefused) return;
    if (isRefused) this.refused.add(provider);
    else this.refused.delete(provider);
    this.notify();
  }

  /** Use a model wherever none is specified. @param {string} model */
  async useByDefault(model) {
    if (!this.models.some(({name}) => name === model)) await client.put('/api/chat/model', {model});
  }

  /** Look for model servers on this machine. @returns {Promise<{found: LocalServer[], looked: string[]}>} */
  lookForServers() {
    return client.post('/api/chat/local-servers', {});
  }

  /** Add a model under this name. @param {string} name @param {Record<string, unknown>} model */
  async addModel(name, model) {
    await this._change(() => client.put(`/api/chat/models/${encodeURIComponent(name)}`, model), {use: name});
  }

  /** Make a change and continue with the next step, or after the confirmation if the user has to confirm it. @param {() => Promise<unknown>} send @param {NextStep} next @param {string} [provider]  whose key or address it is */
  async _change(send, next, provider = '') {
    try {
      await send();
    } catch (error) {
      const {type, context} = /** @type {import('../client/client.js').ApiError} */ (error);
      if (type === 'confirmation_required') this._waiting.set(String(context.changeId), next);
      throw error;
    }
    await this.load();
    this.refused.delete(provider); // the next request uses the new key or address
    this._goOn(next);
  }

  /** @param {{changeId: string, outcome: string}} decided */
  async _onDecided({changeId, outcome}) {
    const next = this._waiting.get(changeId);
    this._waiting.delete(changeId);
    await this.load();
    if (next && outcome === 'applied') this._goOn(next);
  }

  /** @param {NextStep} next */
  _goOn(next) {
    if ('list' in next) {
      this.listed = next.list;
      this.refused.delete(next.list); // the next request uses the new key or address
    }
    this._next = next;
    this.notify();
  }

  /** @param {string} id */
  agent(id) {
    return this.agents.find((agent) => agent.id === (id || 'default'));
  }

  /** Return the model that is used if none is chosen. @param {string} agentId */
  modelOf(agentId) {
    return this.agent(agentId)?.model || this.defaultModel;
  }

  async _load() {
    try {
      const {isSetUp, hint, defaultModel, agents, models, providers, services, localServers, modes, folders} = await client.get('/api/chat');
      this.offered.clear();
      Object.assign(this, {isSetUp, hint: hint ?? '', defaultModel: defaultModel ?? '', agents, models, providers, services: services ?? [], localServers, modes: modes ?? MODES, folders: folders ?? []});
      this.isLoaded = true;
      this.error = null;
    } catch (error) {
      this.error = error;
    }
    this.notify();
  }
}

export const chatSetup = new ChatSetup();
