/** Runs page tool calls of models in the tab that the message was sent with, after the user's approval where it is needed. */
import {locale, t} from '../../webui/base/i18n.js';
import {Store} from '../../webui/base/store.js';
import {argumentsOf} from '../../webui/chat/conversation/items.js';
import {ApiError, client} from '../../webui/client/client.js';
import {readMessages} from '../../webui/client/sse.js';
import {toastError} from '../../webui/ui/toasts.js';
import {runPageTool} from '../../tab/tab-page.js';
import {askHere} from '../question/questions.js';
import {actionsIn} from './describe.js';
import {begin, finish, forget, unsent} from './journal.js';
import {isOurs, noteElements, turnOf} from './turn-tabs.js';

/**
 * @typedef {import('../../webui/chat/conversation/items.js').ChatCall} ChatCall
 * @typedef {Pick<ChatCall, 'toolId' | 'toolName' | 'arguments'>} PageCall
 * @typedef {{type: string, message: string, origin: string}} Problem  why a call could not start, if the user can fix that
 */

class ClientCalls extends Store {
  constructor() {
    super();
    /** @type {Map<string, AbortController>} */
    this._running = new Map();
    /** @type {Map<string, Problem>} */
    this._problems = new Map();
    /** Calls that have run here; events about them may arrive later. @type {Set<string>} */
    this._done = new Set();
    /** The last call of each chat, as calls of one chat run in order. @type {Map<string, Promise<void>>} */
    this._last = new Map();
    client.on('session.toolState', ({toolId, state}) => { if (!['waiting', 'running'].includes(state)) this._running.get(toolId)?.abort(); });
    client.on('session.toolResult', (event) => this._running.get((event.tool_result ?? event).toolId)?.abort());
    client.on('session.toolCall', ({sessionId, thread, tool_call: call}) => { if (!thread && call?.kind === 'client' && call.waits && call.needsApproval === false) void this.carryOut(sessionId, called(call)); });
    client.on('connection', (connection) => { if (connection === 'open') void this._sendUnsent(); });
  }

  /** @param {string} toolId */
  isRunning(toolId) {
    return this._running.has(toolId);
  }

  /** Return why a call could not start; undefined if nothing prevents it. @param {string} toolId */
  problemOf(toolId) {
    return this._problems.get(toolId);
  }

  /** Run a call that the user has approved. @param {string} sessionId @param {PageCall} call @returns {Promise<void>} */
  approve(sessionId, call) {
    return this._inOrder(sessionId, () => this._run(sessionId, call, true));
  }

  /** Run a call that needs no approval. @param {string} sessionId @param {PageCall} call @returns {Promise<void>} */
  carryOut(sessionId, call) {
    return this._inOrder(sessionId, () => this._run(sessionId, call, false)).catch((error) => toastError(t('panel.approveFailed'), error));
  }

  /** @param {string} sessionId @param {() => Promise<void>} run */
  _inOrder(sessionId, run) {
    const last = (this._last.get(sessionId) ?? Promise.resolve()).then(run);
    this._last.set(sessionId, last.catch(() => {}));
    return last;
  }

  /** @param {string} sessionId @param {PageCall} call @param {boolean} isApproved  by the user, just now */
  async _run(sessionId, call, isApproved) {
    const {toolId, toolName} = call;
    if (this._done.has(toolId)) return;
    const turn = await turnOf(sessionId);
    if (!turn || !(await isOurs(turn)) || !(await begin({toolId, sessionId, toolName}))) return;
    const ending = new AbortController();
    this._running.set(toolId, ending);
    this._problems.delete(toolId);
    this.notify();
    try {
      if (isApproved) await this._consent(sessionId, toolId);
      const result = await this._act(sessionId, call, tabOf(turn, call), ending.signal);
      if (result) {
        this._done.add(toolId);
        await finish(toolId, result);
        await this._send({toolId, sessionId, toolName, result});
      } else await forget(toolId);
    } catch (error) {
      await forget(toolId); // nothing was done, as the server is not waiting for the call
      throw error;
    } finally {
      this._running.delete(toolId);
      this.notify();
    }
  }

  /** Send the approval; the server checks that the call is still pending before anything is done. @param {string} sessionId @param {string} toolId */
  _consent(sessionId, toolId) {
    return post({session_id: sessionId, role: 'function', message: JSON.stringify({toolId, approved: true})});
  }

  /** @param {string} sessionId @param {PageCall} call @param {number} tabId @param {AbortSignal} signal @returns {Promise<object | null>} null: the user has to allow the site first */
  async _act(sessionId, {toolId, toolName, arguments: args}, tabId, signal) {
    const confirm = (/** @type {{kind: string, label: string, origin: string}} */ question) => askHere({...question, signal});
    try {
      const result = await runPageTool(tabId, toolName, args, {locale: locale(), signal, confirm});
      if (Array.isArray(result.elements)) await noteElements(sessionId, tabId, result.elements);
      return result;
    } catch (error) {
      const {type = 'internal_error', message, origin = ''} = /** @type {Partial<Problem>} */ (error);
      if (type !== 'permission_needed') return {success: false, error: `${type}: ${message}`};
      this._problems.set(toolId, {type, message: String(message), origin});
      return null;
    }
  }

  /** @param {{toolId: string, sessionId: string, toolName: string, result: object | null}} ended */
  async _send({toolId, sessionId, toolName, result}) {
    const message = locale() === 'zh' ? `浏览器工具 ${toolName} 执行结果: ${JSON.stringify(result)}` : `Browser tool ${toolName} result: ${JSON.stringify(result)}`;
    try {
      await post({session_id: sessionId, role: 'user', toolId, message});
    } catch (error) {
      const {type} = /** @type {ApiError} */ (error);
      if (type === 'unreachable') return; // sent again once the server is reachable
      if (!OVER.has(type)) toastError(t('panel.resultFailed'), error);
    }
    await forget(toolId);
  }

  async _sendUnsent() {
    const interrupted = {success: false, error: `interrupted: ${t('panel.interrupted')}`};
    for (const entry of await unsent(interrupted)) {
      if (!this._running.has(entry.toolId)) void this._inOrder(entry.sessionId, () => this._send(entry));
    }
  }
}

/** Error types for calls that are no longer pending: the call's card shows how it ended. */
const OVER = new Set(['tool_call_not_found', 'tool_call_answered', 'approval_expired', 'session_not_found']);

/** Return the call from an event. @param {{toolId: string, tool_name: string, arguments: unknown}} call @returns {PageCall} */
function called({toolId, tool_name: toolName, arguments: given}) {
  return {toolId, toolName, arguments: argumentsOf(given)};
}

/** Return the tab of the elements that a call refers to, or else that of the last message. @param {import('./turn-tabs.js').Turn} turn @param {PageCall} call */
export function tabOf(turn, {arguments: args}) {
  const ids = actionsIn(args).map(({target}) => target?.elementId);
  return ids.map((id) => turn.elements[id]?.tabId).find((tabId) => tabId !== undefined) ?? turn.tabId;
}

/**
 * Post a message to a session and wait until the server starts to answer; the session's events report the rest.
 * @param {Record<string, unknown>} body @throws {ApiError}
 */
async function post(body) {
  const init = {method: 'POST', body: JSON.stringify(body), headers: {'Content-Type': 'application/json', Accept: 'text/event-stream'}};
  const response = await client.fetch('/api/v1/agent/chat', init);
  await new Promise((resolve, reject) => {
    const broken = () => reject(new ApiError({type: 'unreachable', retryable: true}));
    readMessages(response, ({data}) => {
      const {error} = JSON.parse(data);
      if (error) reject(new ApiError(error));
      else resolve(undefined);
    }).then(broken, broken);
  });
}

export const clientCalls = new ClientCalls();
