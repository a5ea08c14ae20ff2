/** The entry point of the page: log in if the URL carries a code, then show the application. */
import {client} from './client/client.js';
import {navigate} from './base/router.js';
import './base/theme.js';
import './shell/ac-app.js';

/** The default route, used if the URL names no view: a new chat, or the setup for one. */
const FIRST = '#/chats';
const CODE = /^#code=([\w-]+)$/;

/** Return the login code and remove it from the URL at once: it must not stay in the history or be copied along. */
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

// opening a login link while the page is already open only changes the fragment
window.addEventListener('hashchange', () => { if (CODE.test(location.hash)) void start(); });
void start();
