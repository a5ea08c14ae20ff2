/**
 * The page's server, and its half of its session; the other half is a cookie that scripts cannot read.
 *
 * A client elsewhere that is made of the same components, such as the browser extension, has a file of its own for this one.
 */

/** Where it is kept. */
export const KEY = 'agentcore.session';

/** The longest wait until a server that is away is tried again. */
export const LONGEST_WAIT_MS = 10_000;

/** Where the server answers. @param {string} path  such as `/api/events` */
export function serverAddress(path) {
  return path;
}

/** Where the page shows something. @param {string} fragment  such as `#/modules` */
export function pageAddress(fragment) {
  return fragment;
}

/** The `target` of links to there. */
export const PAGE_TARGET = '_self';

/** Headers that show the session. @returns {Record<string, string>} */
export function sessionHeaders() {
  const value = localStorage.getItem(KEY);
  return value ? {'X-Agentcore-Session': value} : {};
}

/** The same for a WebSocket, which can carry no headers: the protocols that it offers. @returns {string[]} */
export function sessionProtocols() {
  const value = localStorage.getItem(KEY);
  return ['agentcore', ...(value ? [`agentcore.session.${value}`] : [])];
}

/** Whether there is a session to try. */
export function hasSession() {
  return localStorage.getItem(KEY) !== null;
}

/** Keep a session, or forget it. @param {string | null} value */
export function keepSession(value) {
  if (value === null) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, value);
}
