/**
 * The page's server, and the page's half of the session; the other half is a cookie that scripts cannot read.
 *
 * Other clients that reuse these components, such as the browser extension, replace this file with their own.
 */

/** The key in local storage. */
export const KEY = 'agentcore.session';

/** The longest wait before an unreachable server is tried again. */
export const LONGEST_WAIT_MS = 10_000;

/** Return the URL of a path on the server. @param {string} path  such as `/api/events` */
export function serverAddress(path) {
  return path;
}

/** Return the URL of a view of the page. @param {string} fragment  such as `#/modules` */
export function pageAddress(fragment) {
  return fragment;
}

/** The `target` of links to the page. */
export const PAGE_TARGET = '_self';

/** Return the headers that carry the session. @returns {Record<string, string>} */
export function sessionHeaders() {
  const value = localStorage.getItem(KEY);
  return value ? {'X-Agentcore-Session': value} : {};
}

/** Return the protocols that carry the session for a WebSocket, which cannot send headers. @returns {string[]} */
export function sessionProtocols() {
  const value = localStorage.getItem(KEY);
  return ['agentcore', ...(value ? [`agentcore.session.${value}`] : [])];
}

/** True if a session is stored, whether it is still valid or not. */
export function hasSession() {
  return localStorage.getItem(KEY) !== null;
}

/** Store a session, or delete the stored one. @param {string | null} value */
export function keepSession(value) {
  if (value === null) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, value);
}
