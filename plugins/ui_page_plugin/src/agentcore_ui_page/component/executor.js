/** Carries out commands of the server's `ui_page` tools in this page. Loaded before the application's own script. */
import {client} from '/static/client.js';
import {Channel} from './channel.js';
import {carryOut} from './commands.js';

const channel = new Channel(carryOut);

// with the event stream the session is known to be good, and the server to be there
client.on('connection', (connection) => {
  if (connection === 'open') channel.start();
  else if (connection === 'unauthorized') channel.stop();
});
