/** The server that the extension is paired with, and the key that it has there: it has no session of the page. */

import {server} from '../../panel/server.js';

/** The longest wait until a server that is away is tried again. */
export const LONGEST_WAIT_MS = 2_500;

/** Where the server answers. @param {string} path  such as `/api/events` */
export function serverAddress(path) {
  return `${server()?.origin ?? ''}${path}`;
}

/** Where agentcore's page shows something. @param {string} fragment  such as `#/modules` */
export function pageAddress(fragment) {
  return `${server()?.origin ?? ''}/${fragment}`;
}

/** The `target` of links to there. */
export const PAGE_TARGET = '_blank';

/** Headers that show the key. @returns {Record<string, string>} */
export function sessionHeaders() {
  return server()?.key ? {Authorization: `Bearer ${server()?.key}`} : {};
}

/** The same for a WebSocket, which can carry no headers: the protocols that it offers. @returns {string[]} */
export function sessionProtocols() {
  return ['agentcore', ...(server()?.key ? [`agentcore.key.${server()?.key}`] : [])];
}

/** Whether there is a key to try. */
export function hasSession() {
  return Boolean(server()?.key);
}

/** Nobody logs in or out here: keys come by pairing, and are kept with their servers. */
export function keepSession() {}
