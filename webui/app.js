/** Where the page begins: log in if the address carries a code, then show the application. */
import {client} from './client/client.js';
import {navigate} from './base/router.js';
import './base/theme.js';
import './shell/ac-app.js';

/** Where the page opens when the address names no view: a new chat, or what is needed for one. */
const FIRST = '#/chats';
const CODE = /^#code=([\w-]+)$/;

/** The code leaves the address at once: it must not stay in the history or be copied along. */
function takeCode() {
  const found = CODE.exec(location.hash);
  if (!found) return null;
  navigate(FIRST, {replace: true});
  return found[1];
}

async function start() {
  const code = takeCode();
  if (location.hash.length < 2) navigate(FIRST, {replace: true});
  const app = /** @type {import('./shell/ac-app.js').AcApp} */ (document.querySelector('ac-app'));
  try {
    if (code) await client.logIn(code);
  } catch (error) {
    app.loginError = /** @type {import('./client/client.js').ApiError} */ (error);
  }
  client.events.start();
  app.isStarted = true;
}

// a link with a code that is opened in a page which is open already changes only the fragment
window.addEventListener('hashchange', () => { if (CODE.test(location.hash)) void start(); });
void start();
