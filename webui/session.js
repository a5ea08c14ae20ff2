/** The session of the page, for scripts of modules: this address stays, wherever the page keeps it. */
export {sessionHeaders} from './client/session.js';
