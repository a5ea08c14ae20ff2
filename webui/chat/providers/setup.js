/** What one can chat with here: agents, models, providers and their keys, approval modes. */
import {client} from '../../client/client.js';
import {Store} from '../../base/store.js';

/**
 * @typedef {{id: string, model?: string | null, mode: string, instructions: string}} Agent
 * @typedef {object} Model
 * @property {string} name
 * @property {string} provider
 * @property {string} model
 * @property {string | null} [baseUrl]
 * @property {boolean} isUsable
 * @property {string | null} [hint]  what it lacks
 * @typedef {object} Provider
 * @property {string} provider
 * @property {Record<string, string>} label  by language
 * @property {string} ownBaseUrl  what is asked where no other address is set
 * @property {string | null} baseUrl
 * @property {boolean} hasKey
 * @property {'environment' | 'stored' | null} keyOrigin
 * @typedef {{kind: string, label: string, baseUrl: string}} LocalPlace  where a kind of server on this machine is looked for
 * @typedef {{kind: string, baseUrl: string, models: string[]}} LocalServer
 */

/** The modes that every server has, from the most careful on; the server's own list is shown in its order. */
const MODES = ['ask', 'ask_writes', 'allow', 'deny'];

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
    /** @type {LocalPlace[]} */
    this.localServers = [];
    this.modes = MODES;
    /** @type {unknown} */
    this.error = null;
    /** @type {Promise<void> | null} */
    this._loading = null;
    // a key or a model that waited for a person is there from now on
    client.on('policy.decided', () => void this.load());
    client.on('settings.changed', () => void this.load());
    client.on('connection', (connection) => { if (connection === 'open' && this.isLoaded) void this.load(); });
  }

  /** Load it (again); requests meanwhile are the same load. */
  load() {
    this._loading ??= this._load().finally(() => { this._loading = null; });
    return this._loading;
  }

  /** Keep a provider's key or address on the server. What is kept is never given back. @param {string} provider @param {{key?: string, baseUrl?: string}} given */
  async keepProvider(provider, given) {
    await client.put(`/api/chat/providers/${provider}`, given);
    await this.load();
  }

  /** Forget what is stored of a provider. @param {string} provider */
  async dropProvider(provider) {
    await client.del(`/api/chat/providers/${provider}`);
    await this.load();
  }

  /** The names of the models that a provider says it has. @param {string} provider @returns {Promise<string[]>} */
  async modelsOf(provider) {
    return (await client.post(`/api/chat/providers/${provider}/models`, {})).models;
  }

  /** Look for model servers on this machine. @returns {Promise<{found: LocalServer[], looked: string[]}>} */
  lookForServers() {
    return client.post('/api/chat/local-servers', {});
  }

  /** Have a model by this name from now on. @param {string} name @param {Record<string, unknown>} model */
  async addModel(name, model) {
    await client.put(`/api/chat/models/${encodeURIComponent(name)}`, model);
    await this.load();
  }

  /** @param {string} id */
  agent(id) {
    return this.agents.find((agent) => agent.id === (id || 'default'));
  }

  /** The model that answers when none is chosen. @param {string} agentId */
  modelOf(agentId) {
    return this.agent(agentId)?.model || this.defaultModel;
  }

  async _load() {
    try {
      const {isSetUp, hint, defaultModel, agents, models, providers, localServers, modes} = await client.get('/api/chat');
      Object.assign(this, {isSetUp, hint: hint ?? '', defaultModel: defaultModel ?? '', agents, models, providers, localServers, modes: modes ?? MODES});
      this.isLoaded = true;
      this.error = null;
    } catch (error) {
      this.error = error;
    }
    this.notify();
  }
}

export const chatSetup = new ChatSetup();
