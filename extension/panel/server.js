/** The server that this document talks to. Another one, or another key, begins with a new document. */

/** @typedef {import('../worker/servers.js').Server} Server */

/** @type {Server | null} */
let used = null;

/** Talk to a server, from the first request on. @param {Server | null} server */
export function useServer(server) {
  used = server;
}

/** The server; null: none is paired. */
export function server() {
  return used;
}
