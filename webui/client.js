/** The server client for module scripts: this URL is stable, wherever the page's own file is. */
export {client} from './client/client.js';
