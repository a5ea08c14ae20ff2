/**
 * Strict parser for messages of a view: JSON-RPC 2.0 as text, and nothing else.
 *
 * @typedef {string | number} MessageId
 * @typedef {{kind: 'request', id: MessageId, method: string, params: Record<string, any>}} Request
 * @typedef {{kind: 'notification', method: string, params: Record<string, any>}} Notification
 * @typedef {{kind: 'response', id: MessageId}} Response
 */

export const MESSAGE_CHARS = 2 * 1024 * 1024;
const NAME_CHARS = 200;

/** An invalid message. */
export class JunkError extends Error {}

/** @param {unknown} text @returns {Request | Notification | Response} */
export function readMessage(text) {
  if (typeof text !== 'string' || text.length > MESSAGE_CHARS) throw new JunkError('no text, or too long');
  const message = parsed(text);
  if (!isObject(message) || message.jsonrpc !== '2.0') throw new JunkError('not JSON-RPC 2.0');
  const {id, method, params} = message;
  if (method === undefined) {
    if (!isId(id) || !('result' in message || 'error' in message)) throw new JunkError('neither a request nor an answer');
    return {kind: 'response', id};
  }
  if (typeof method !== 'string' || method.length > NAME_CHARS) throw new JunkError('no method');
  if (params !== undefined && !isObject(params)) throw new JunkError('params are no object');
  if (id === undefined) return {kind: 'notification', method, params: params ?? {}};
  if (!isId(id)) throw new JunkError('no id');
  return {kind: 'request', id, method, params: params ?? {}};
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new JunkError('no JSON');
  }
}

/** @param {unknown} value @returns {value is Record<string, any>} */
export function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @param {unknown} id @returns {id is MessageId} */
function isId(id) {
  return (typeof id === 'string' && id.length <= NAME_CHARS) || Number.isSafeInteger(id);
}
