/** Entry point of the approval view: log in if the address contains a code, and continue to the page if it contains one for the page. */
import {client} from '../client/client.js';
import {KEY, hasSession} from '../client/session.js';
import {waiting} from './cards/pending-requests.js';
import {beFramed, isCallFrame, pageOrigin} from './guard/framing.js';
import '../base/theme.js';
import './ac-approval-view.js';
import '../base/later-strings.js';

const CODES = /^#code=([\w-]+)(?:&page=([\w-]+))?$/;

/** Return the codes in the address and remove them from it, so that they do not stay in the history. */
function takeCodes() {
  const found = CODES.exec(location.hash);
  if (found) history.replaceState(null, '', location.pathname + location.search);
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
  if (isCallFrame) beginCallFrame();
  else client.events.start();
  view.isStarted = true;
}

/** Start without an event stream: the page reports what is pending, because one stream per frame would use up the browser's connections. */
function beginCallFrame() {
  if (hasSession()) void waiting.load();
  else client.events.refuse();
  // the user logged in in another window or frame
  window.addEventListener('storage', ({key}) => { if (key === KEY && client.connection === 'unauthorized') location.reload(); });
}

beFramed(/** @type {import('./ac-approval-view.js').AcApprovalView} */ (document.querySelector('ac-approval-view')), (page) => waiting.hear(page));
window.addEventListener('hashchange', () => { if (CODES.test(location.hash)) void start(); });
void start();
