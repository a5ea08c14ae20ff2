/** The server that the extension is paired with, and the key for it; there is no session as in the page. */

import {server} from '../../panel/server.js';

/** The maximum delay before the next attempt to reach an unreachable server. */
export const LONGEST_WAIT_MS = 2_500;

/** Return the URL of a path on the server. @param {string} path  such as `/api/events` */
export function serverAddress(path) {
  return `${server()?.origin ?? ''}${path}`;
}

/** Return the URL of a view of agentcore's page. @param {string} fragment  such as `#/modules` */
export function pageAddress(fragment) {
  return `${server()?.origin ?? ''}/${fragment}`;
}

/** The `target` of links to agentcore's page. */
export const PAGE_TARGET = '_blank';

/** Return the headers that carry the key. @returns {Record<string, string>} */
export function sessionHeaders() {
  return server()?.key ? {Authorization: `Bearer ${server()?.key}`} : {};
}

/** Return the protocols that a WebSocket offers: they carry the key, as it cannot send headers. @returns {string[]} */
export function sessionProtocols() {
  return ['agentcore', ...(server()?.key ? [`agentcore.key.${server()?.key}`] : [])];
}

/** Return true if there is a key to use. */
export function hasSession() {
  return Boolean(server()?.key);
}

/** Do nothing: there is no login here; keys come from pairing and are stored with their servers. */
export function keepSession() {}
