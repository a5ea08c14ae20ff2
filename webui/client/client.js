/** The page's client of the server. */
import {Events} from './events.js';
import {keepSession, serverAddress, sessionHeaders, sessionProtocols} from './session.js';
import {readMessages} from './sse.js';

/** @typedef {{type: string, message: string, context: Record<string, any>, retryable: boolean}} ErrorObject */
/** @typedef {{type: 'text', text: string} | {type: 'image', mime: string, base64: string} | {type: string, [key: string]: any}} ContentBlock */
/**
 * The outcome of a call.
 * @typedef {object} Envelope
 * @property {boolean} ok
 * @property {string} callId
 * @property {string} [resourceId]
 * @property {ContentBlock[]} [content]
 * @property {any} [data]
 * @property {true} [truncated]
 * @property {ErrorObject} [error]
 */
/**
 * @typedef {object} CallOptions
 * @property {string} [sessionId]
 * @property {string} [resourceId]
 * @property {number} [timeoutMs]
 * @property {string} [host]  the host on another machine that the call goes to
 * @property {string} [callId]  the id of a call that waited for approval and is sent again
 * @property {(progress: {callId: string, fraction?: number, message?: string}) => void} [onProgress]
 * @property {(approval: {callId: string, reason: string}) => void} [onApproval]  the call waits for the user's approval
 * @property {(callId: string) => void} [onAccepted]  the call has an id, by which it can be cancelled
 * @property {AbortSignal} [signal]  cancels the call
 */

/** An error response of the server, or the error that it could not be reached (`unreachable`). */
export class ApiError extends Error {
  /** @param {Partial<ErrorObject>} error @param {number} status  0: no response */
  constructor({type = 'unknown', message = '', context = {}, retryable = false}, status = 0) {
    super(message);
    this.name = 'ApiError';
    this.type = type;
    this.context = context;
    this.retryable = retryable;
    this.status = status;
  }
}

export class Client {
  constructor() {
    this.events = new Events();
  }

  /** The state of the event stream. @returns {import('./events.js').Connection} */
  get connection() {
    return this.events.connection;
  }

  /**
   * Subscribe to events: `on('call.*', handler)`; `on('connection', handler)` reports the state of the stream itself.
   * @param {string} pattern
   * @param {(event: any) => void} handler  called within an animation frame
   * @returns {() => void} the unsubscribe function
   */
  on(pattern, handler) {
    return this.events.on(pattern, handler);
  }

  /** @param {string} path @param {{signal?: AbortSignal}} [options] @returns {Promise<any>} */
  get(path, options) {
    return this._json(path, {...options});
  }

  /** @param {string} path @param {unknown} [body] @param {{signal?: AbortSignal}} [options] @returns {Promise<any>} */
  post(path, body, options) {
    return this._json(path, {...withBody('POST', body), ...options});
  }

  /** @param {string} path @param {unknown} [body] @param {{signal?: AbortSignal}} [options] @returns {Promise<any>} */
  put(path, body, options) {
    return this._json(path, {...withBody('PUT', body), ...options});
  }

  /** @param {string} path @param {unknown} [body] @param {{signal?: AbortSignal}} [options] @returns {Promise<any>} */
  patch(path, body, options) {
    return this._json(path, {...withBody('PATCH', body), ...options});
  }

  /** @param {string} path @returns {Promise<any>} */
  del(path) {
    return this._json(path, {method: 'DELETE'});
  }

  /**
   * Call a tool. Every outcome of the call is returned as an envelope; only errors of the request itself are thrown.
   * @param {string} tool
   * @param {Record<string, unknown>} args
   * @param {CallOptions} [options]
   * @returns {Promise<Envelope>}
   */
  async call(tool, args, options = {}) {
    const {sessionId, resourceId, timeoutMs, callId, host} = options;
    const init = withBody('POST', {
      arguments: args, session_id: sessionId, resource_id: resourceId, timeout_ms: timeoutMs, call_id: callId, host,
    });
    init.headers = {...init.headers, Accept: 'text/event-stream'};
    return this._callAt(`/api/tools/${encodeURIComponent(tool)}/call`, init, options);
  }

  /**
   * Call a tool for a tool's view in a chat; the view may do what a model may do.
   * @param {string} sessionId
   * @param {string} tool  the tool that the view belongs to
   * @param {string} name  the tool to call, by the name that the view knows
   * @param {Record<string, unknown>} args
   * @param {AbortSignal} signal
   */
  callFromView(sessionId, tool, name, args, signal) {
    const init = {...withBody('POST', {name, arguments: args})};
    init.headers = {...init.headers, Accept: 'text/event-stream'};
    return this._callAt(`/api/sessions/${encodeURIComponent(sessionId)}/views/${encodeURIComponent(tool)}/call`, init, {signal});
  }

  /** @param {string} path @param {RequestInit} init @param {CallOptions} options @returns {Promise<Envelope>} */
  async _callAt(path, init, options) {
    const response = await this.fetch(path, init);
    const ending = new CallEnding(this, options.signal);
    /** @type {Envelope | undefined} */
    let envelope;
    try {
      await readMessages(response, ({event, data}) => {
        const parsed = JSON.parse(data);
        if (event === 'result') envelope = parsed;
        else if (event === 'progress') options.onProgress?.(parsed);
        else if (event === 'approval') options.onApproval?.(parsed);
        else if (event === 'accepted') options.onAccepted?.(parsed.callId);
        ending.learn(parsed.callId);
      });
    } catch (error) {
      throw unreachable(error);
    } finally {
      ending.done();
    }
    if (!envelope) throw unreachable('the answer ended before the result');
    return envelope;
  }

  /** Cancel a call that has not ended; its caller receives `cancelled`. @param {string} callId */
  cancel(callId) {
    return this.post(`/api/calls/${encodeURIComponent(callId)}/cancel`);
  }

  /**
   * Return an artifact as a `blob:` URL, for images and downloads; call `URL.revokeObjectURL` when it is no longer shown.
   * @param {string} id
   */
  async artifactUrl(id) {
    const response = await this.fetch(`/api/artifacts/${encodeURIComponent(id)}`);
    return URL.createObjectURL(await response.blob());
  }

  /** Open a WebSocket with the session. @param {string} path @returns {WebSocket} */
  socket(path) {
    const url = new URL(serverAddress(path), location.href);
    url.protocol = url.protocol.replace('http', 'ws');
    return new WebSocket(url, sessionProtocols());
  }

  /**
   * Send any request with the session; throw an error if the response is not successful.
   * @param {string} path
   * @param {RequestInit} [init]
   * @returns {Promise<Response>}
   */
  async fetch(path, init = {}) {
    /** @type {Response} */
    let response;
    try {
      response = await fetch(serverAddress(path), {...init, headers: {...sessionHeaders(), ...init.headers}});
    } catch (error) {
      if (init.signal?.aborted) throw error;
      throw unreachable(error);
    }
    if (response.ok) return response;
    if (response.status === 401) this.events.refuse();
    throw await refusal(response);
  }

  /** Log in with a one-time code. @param {string} code */
  async logIn(code) {
    const {session} = await this.post('/api/session', {code});
    keepSession(session);
    this.events.start();
  }

  /** End the session, in this browser and on the server. */
  async logOut() {
    await this.del('/api/session');
    keepSession(null);
    this.events.refuse();
  }

  /** @param {string} path @param {RequestInit} init */
  async _json(path, init) {
    const response = await this.fetch(path, init);
    return response.status === 204 ? null : response.json();
  }
}

/** Cancels a call when its signal aborts, as soon as the call's id is known. */
class CallEnding {
  /** @param {Client} client @param {AbortSignal} [signal] */
  constructor(client, signal) {
    this._client = client;
    this._signal = signal;
    /** @type {string | undefined} */
    this._callId = undefined;
    this._end = () => this._cancel();
    signal?.addEventListener('abort', this._end);
  }

  /** @param {string | undefined} callId */
  learn(callId) {
    if (this._callId || !callId) return;
    this._callId = callId;
    if (this._signal?.aborted) this._cancel();
  }

  done() {
    this._signal?.removeEventListener('abort', this._end);
  }

  _cancel() {
    // a call that has just ended is not found: then there is nothing to cancel
    if (this._callId) this._client.cancel(this._callId).catch(() => {});
  }
}

/** @param {string} method @param {unknown} body @returns {RequestInit} */
function withBody(method, body) {
  if (body === undefined) return {method};
  return {method, body: JSON.stringify(body), headers: {'Content-Type': 'application/json'}};
}

/** @param {unknown} reason */
function unreachable(reason) {
  return new ApiError({type: 'unreachable', message: String(reason), retryable: true});
}

/** @param {Response} response */
async function refusal(response) {
  try {
    return new ApiError((await response.json()).error, response.status);
  } catch {
    return new ApiError({type: 'unknown', message: `${response.status} ${response.statusText}`}, response.status);
  }
}

export const client = new Client();
