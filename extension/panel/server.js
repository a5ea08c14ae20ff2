/** The server that this document talks to. When the server or its key changes, a new document is loaded. */

/** @typedef {import('../worker/servers.js').Server} Server */

/** @type {Server | null} */
let used = null;

/** Set the server, before the first request. @param {Server | null} server */
export function useServer(server) {
  used = server;
}

/** Return the server; null if none is paired. */
export function server() {
  return used;
}
