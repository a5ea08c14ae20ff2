/** Where the approval view begins: log in if the address carries a code, and go on to the page if it carries one for it. */
import {client} from '../client/client.js';
import {beFramed, pageOrigin} from './guard/framing.js';
import '../base/theme.js';
import './ac-approval-view.js';

const CODES = /^#code=([\w-]+)(?:&page=([\w-]+))?$/;

/** Codes leave the address at once: they must not stay in the history. */
function takeCodes() {
  const found = CODES.exec(location.hash);
  if (found) history.replaceState(null, '', location.pathname);
  return found;
}

async function start() {
  const codes = takeCodes();
  const view = /** @type {import('./ac-approval-view.js').AcApprovalView} */ (document.querySelector('ac-approval-view'));
  try {
    if (codes) await client.logIn(codes[1]);
    if (codes?.[2]) return location.replace(`${pageOrigin}/#code=${codes[2]}`);
  } catch (error) {
    view.loginError = /** @type {import('../client/client.js').ApiError} */ (error);
  }
  client.events.start();
  view.isStarted = true;
}

beFramed(/** @type {HTMLElement} */ (document.querySelector('ac-approval-view')));
window.addEventListener('hashchange', () => { if (CODES.test(location.hash)) void start(); });
void start();
