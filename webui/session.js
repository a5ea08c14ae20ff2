/** The page's session for module scripts: this URL is stable, wherever the page's own file is. */
export {sessionHeaders} from './client/session.js';
