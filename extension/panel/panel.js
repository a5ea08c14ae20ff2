/** Starts the panel, with the server in use or with pairing. */
import {client} from '../webui/client/client.js';
import {onServersChanged, usedServer} from '../worker/servers.js';
import '../webui/base/theme.js';
import './ac-panel.js';
import './this-panel.js';
import {useServer} from './server.js';
import {activeTab} from './tab/active-tab.js';
import {shares} from './tab/shares.js';

async function start() {
  const [used] = await Promise.all([usedServer(), activeTab.start(), shares.start()]);
  useServer(used);
  if (used?.key) client.events.start();
  const panel = /** @type {import('./ac-panel.js').AcPanel} */ (document.querySelector('ac-panel'));
  panel.server = used;
  // everything shown belongs to one server and key: when either changes, a new document is loaded
  onServersChanged(async () => {
    const now = await usedServer();
    if (now?.origin === used?.origin && now?.key === used?.key) return;
    history.replaceState(null, '', '#/chats'); // the chat in view belongs to the previous key
    location.reload();
  });
}

void start();
