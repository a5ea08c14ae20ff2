/** Runs commands of the server's `ui_page` tools in this page. Loaded before the application's own script. */
import {client} from '/static/client.js';
import {Channel} from './channel.js';
import {carryOut} from './commands.js';

const channel = new Channel(carryOut);

// once the event stream is open, the session is valid and the server reachable
client.on('connection', (connection) => {
  if (connection === 'open') channel.start();
  else if (connection === 'unauthorized') channel.stop();
});
