/** The client of the server, for scripts of modules: this address stays, wherever the page keeps the client. */
export {client} from './client/client.js';
