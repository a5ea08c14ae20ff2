/**
 * The chat's side of a view's messages (MCP Apps, revision 2026-01-26): the requests that a view may make and the notifications
 * that it receives. It trusts nothing from a view, reports nothing of the call before the view is initialized, and ends a view that
 * exceeds its limits.
 */
import {JunkError, isObject, readMessage} from './messages.js';
import {resourceContents, toolResult} from './tool-result.js';

/** @typedef {import('../client/client.js').Envelope} Envelope */
/** @typedef {import('./messages.js').Request} Request */
/** @typedef {import('./messages.js').MessageId} MessageId */
/**
 * Functions that the view's element provides.
 * @typedef {object} Surroundings
 * @property {(message: Record<string, any>) => void} send
 * @property {() => Record<string, any>} context  theme, language, sizes
 * @property {(name: string, args: Record<string, any>, signal: AbortSignal) => Promise<Envelope>} call
 * @property {string[]} calls  names of the tools that it may call
 * @property {(question: {kind: 'link' | 'message', text: string}) => Promise<boolean>} ask  asks the user to confirm, and carries it out
 * @property {(text: string) => void} note  context for the model, which replaces the previous one; '' for none
 * @property {(height: number) => void} resize
 * @property {(mode: unknown) => string} show  switches to a display mode if allowed, and returns the resulting mode
 * @property {(modes: string[]) => void} ready  the view is initialized and supports these display modes
 * @property {(reason: 'junk' | 'flood' | 'large' | 'closed') => void} end
 */

const VERSION = '2026-01-26';
const JUNK = 10;
const REQUESTS = 16;
const URL_CHARS = 4_000;
const MESSAGE_BLOCKS = 20;
const MESSAGE_CHARS = 20_000;
const REFUSALS = 3;
const READ = 'resources/read';
const MODES = ['inline', 'fullscreen'];
const ERRORS = {method: -32601, params: -32602, early: -32002, busy: -32003};

/** An error response to a request. */
class Refusal extends Error {
  /** @param {number} code @param {string} message */
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

export class ViewHost {
  /** @param {Surroundings} surroundings */
  constructor(surroundings) {
    this._do = surroundings;
    /** @type {'loading' | 'greeted' | 'ready' | 'ended'} */
    this._state = 'loading';
    this._junk = 0;
    this._refused = 0;
    this._isAsking = false;
    /** @type {string[]} the display modes that the view declares */
    this._modes = [];
    this._teardown = 0;
    /** @type {(() => void) | null} */
    this._tornDown = null;
    /** @type {Map<MessageId, AbortController>} */
    this._open = new Map();
    /** @type {{method: string, params: Record<string, any>}[]} Told once it is ready. */
    this._unsaid = [];
  }

  get isReady() {
    return this._state === 'ready';
  }

  /** Send the view a notification, as soon as it is ready. @param {string} method @param {Record<string, any>} params */
  tell(method, params) {
    if (this._state === 'ready') this._notify(method, params);
    else if (this._state !== 'ended') this._unsaid.push({method, params});
  }

  /** Ask the view to release what it has open, and wait for at most `limitMs`. @param {number} limitMs */
  async tearDown(limitMs) {
    if (this._state !== 'ready') return;
    const done = new Promise((resolve) => { this._tornDown = () => resolve(undefined); });
    this._do.send({jsonrpc: '2.0', id: `teardown-${++this._teardown}`, method: 'ui/resource-teardown', params: {}});
    await Promise.race([done, new Promise((resolve) => { setTimeout(resolve, limitMs); })]);
  }

  /** Stop serving the view and cancel its open requests. */
  close() {
    this._state = 'ended';
    for (const ending of this._open.values()) ending.abort();
    this._open.clear();
  }

  /** Handle a message from the view's frame. @param {unknown} text */
  take(text) {
    if (this._state === 'ended') return;
    try {
      const message = readMessage(text);
      if (message.kind === 'request') void this._answer(message);
      else if (message.kind === 'notification') this._onNotification(message.method, message.params);
      else this._tornDown?.();
    } catch (error) {
      if (!(error instanceof JunkError)) throw error;
      if (++this._junk > JUNK) this._end('junk');
    }
  }

  /** @param {string} method @param {Record<string, any>} params */
  _onNotification(method, params) {
    switch (method) {
      case 'ui/notifications/sandbox-proxy-ready': this._notify('ui/notifications/sandbox-resource-ready', {}); break;
      case 'ui/notifications/sandbox-ended': this._end(['flood', 'large'].includes(params.reason) ? params.reason : 'junk'); break;
      case 'ui/notifications/initialized': this._onInitialized(); break;
      case 'ui/notifications/size-changed': if (this.isReady && Number.isFinite(params.height)) this._do.resize(params.height); break;
      case 'ui/notifications/request-teardown': if (this.isReady) this._end('closed'); break;
      case 'notifications/cancelled': this._open.get(params.requestId)?.abort(); break;
      default: // ignore log messages and methods of later revisions
    }
  }

  _onInitialized() {
    if (this._state !== 'greeted') return;
    this._state = 'ready';
    this._do.ready(this._modes);
    for (const {method, params} of this._unsaid) this._notify(method, params);
    this._unsaid = [];
  }

  /** @param {Request} request */
  async _answer({id, method, params}) {
    const ending = new AbortController();
    try {
      if (this._open.has(id) || this._open.size >= REQUESTS) throw new Refusal(ERRORS.busy, 'too many requests at one time');
      this._open.set(id, ending);
      const result = await this._carryOut(method, params, ending.signal);
      this._reply({id, result});
    } catch (error) {
      const {code = -32603, message} = /** @type {Refusal} */ (error);
      this._reply({id, error: {code, message}});
    } finally {
      if (this._open.get(id) === ending) this._open.delete(id);
    }
  }

  /** @param {string} method @param {Record<string, any>} params @param {AbortSignal} signal @returns {Promise<Record<string, any>>} */
  async _carryOut(method, params, signal) {
    if (method === 'ping') return {};
    if (method === 'ui/initialize') return this._greet(params);
    if (!this.isReady) throw new Refusal(ERRORS.early, 'say ui/notifications/initialized first');
    switch (method) {
      case 'tools/call': return this._call(params, signal);
      case READ: return this._read(params, signal);
      case 'ui/open-link': return this._ask('link', webAddress(params.url));
      case 'ui/message': return this._ask('message', messageText(params));
      case 'ui/update-model-context': this._do.note(contextText(params)); return {};
      case 'ui/request-display-mode': return {mode: this._do.show(this._modes.includes(params.mode) ? params.mode : 'inline')};
      default: throw new Refusal(ERRORS.method, `there is no ${method} here`);
    }
  }

  /** @param {Record<string, any>} params */
  _greet({appCapabilities}) {
    const modes = appCapabilities?.availableDisplayModes;
    if (Array.isArray(modes)) this._modes = MODES.filter((mode) => modes.includes(mode));
    if (this._state === 'loading') this._state = 'greeted';
    const serverResources = this._do.calls.includes(READ) ? {serverResources: {}} : {};
    return {
      protocolVersion: VERSION,
      hostInfo: {name: 'agentcore', version: '1'},
      hostCapabilities: {openLinks: {}, serverTools: {}, ...serverResources, message: {text: {}}, updateModelContext: {text: {}, structuredContent: {}}, logging: {}},
      hostContext: this._do.context(),
    };
  }

  /** @param {Record<string, any>} params @param {AbortSignal} signal */
  async _call({name, arguments: args = {}}, signal) {
    if (typeof name !== 'string' || !isObject(args)) throw new Refusal(ERRORS.params, 'name and arguments are missing');
    if (name === READ || !this._do.calls.includes(name)) throw new Refusal(ERRORS.params, `views may not call ${name.slice(0, 100)}`);
    return toolResult(await this._do.call(name, args, signal));
  }

  /** @param {Record<string, any>} params @param {AbortSignal} signal */
  async _read({uri}, signal) {
    if (!this._do.calls.includes(READ)) throw new Refusal(ERRORS.method, 'no resources can be read here');
    if (typeof uri !== 'string' || uri.length > URL_CHARS) throw new Refusal(ERRORS.params, 'uri is missing');
    const envelope = await this._do.call(READ, {uri}, signal);
    if (!envelope.ok) throw new Refusal(-32603, envelope.error?.message ?? '');
    return resourceContents(envelope);
  }

  /** Ask the user, one question at a time; after several refusals in a row, refuse without asking. @param {'link' | 'message'} kind @param {string} text */
  async _ask(kind, text) {
    if (this._isAsking || this._refused >= REFUSALS) return {isError: true};
    this._isAsking = true;
    try {
      const isDone = await this._do.ask({kind, text});
      this._refused = isDone ? 0 : this._refused + 1;
      return isDone ? {} : {isError: true};
    } finally {
      this._isAsking = false;
    }
  }

  /** @param {Record<string, any>} answer */
  _reply(answer) {
    if (this._state !== 'ended') this._do.send({jsonrpc: '2.0', ...answer});
  }

  /** @param {string} method @param {Record<string, any>} params */
  _notify(method, params) {
    this._do.send({jsonrpc: '2.0', method, params});
  }

  /** @param {'junk' | 'flood' | 'large' | 'closed'} reason */
  _end(reason) {
    if (this._state === 'ended') return;
    this.close();
    this._do.end(reason);
  }
}

/** @param {unknown} url */
function webAddress(url) {
  const isFit = typeof url === 'string' && url.length <= URL_CHARS && URL.canParse(url) && ['https:', 'http:'].includes(new URL(url).protocol);
  if (!isFit) throw new Refusal(ERRORS.params, 'url is no address of the web');
  return new URL(url).href;
}

/** @param {Record<string, any>} params */
function messageText({role, content}) {
  const blocks = Array.isArray(content) ? content : [content];
  const isFit = role === 'user' && blocks.length <= MESSAGE_BLOCKS && blocks.every((block) => block?.type === 'text' && typeof block.text === 'string');
  const text = isFit ? blocks.map((block) => block.text).join('\n').trim() : '';
  if (!text || text.length > MESSAGE_CHARS) throw new Refusal(ERRORS.params, `a message is text of the user's, at most ${MESSAGE_CHARS} characters`);
  return text;
}

/** @param {Record<string, any>} params */
function contextText({content = [], structuredContent}) {
  const isFit = Array.isArray(content) && content.length <= MESSAGE_BLOCKS && content.every((block) => block?.type === 'text' && typeof block.text === 'string')
    && (structuredContent === undefined || isObject(structuredContent));
  const parts = isFit ? [...content.map((block) => block.text), ...(structuredContent ? [JSON.stringify(structuredContent)] : [])] : [];
  const text = parts.join('\n').trim();
  if (!isFit || text.length > MESSAGE_CHARS) throw new Refusal(ERRORS.params, `what a model is to know is text or data, at most ${MESSAGE_CHARS} characters`);
  return text;
}
