/**
 * The servers that this browser is paired with. One is in use at a time, and the extension talks to no other.
 *
 * Used by the worker and the panel; nothing else reads or writes the servers.
 */

/**
 * @typedef {object} Server
 * @property {string} origin  `http://127.0.0.1:8765`, or `https://…`
 * @property {string} name  the name of this browser on the server
 * @property {string | null} key  null: the server no longer accepts it and has to be paired again
 * @property {string[]} scopes  what the user allowed: `approve`, `chat`, `tab`
 * @property {number} pairedAt  milliseconds since 1970
 *
 * Why pairing failed. `no_server`: nothing answers, or an agentcore that does not allow this extension; a browser reports
 * both in the same way, unless the user has allowed the extension to access that host ·
 * `permission_refused`: the browser blocks extensions from servers on this machine · `not_agentcore`: something else answers
 * · `unknown_extension`: this extension is not allowed, where that can be detected · `wrong_code` · `refused` by the user ·
 * `expired`: no decision was made in time · `invalid_address` · `failed`: any other error of the server, see `message`.
 * @typedef {'no_server' | 'permission_refused' | 'not_agentcore' | 'unknown_extension' | 'wrong_code' | 'refused' | 'expired'
 *   | 'invalid_address' | 'failed'} PairProblem
 * @typedef {{state: 'paired', server: Server} | {state: PairProblem, message?: string}} PairResult
 */

const SCOPES = ['chat', 'approve', 'tab'];
const NAMES_TRIED = 20;
const DEFAULT_PORT = 8765;
/** The time limit for answers that do not depend on the user. */
const ANSWER_MS = 10_000;
/** The server holds each request for the key open for 25 seconds. */
const KEY_ANSWER_MS = 60_000;
const LOCAL_HOSTS = ['127.0.0.1', 'localhost', '[::1]'];
/** The names of the permission: since Chrome 145, and in 142 to 144. */
const LOCAL_NETWORK = ['loopback-network', 'local-network-access'];
/** @type {Record<string, PairProblem>} */
const PROBLEMS = {
  invalid_code: 'wrong_code',
  pairing_refused: 'refused',
  pairing_not_found: 'expired',
  foreign_origin: 'unknown_extension',
};

/**
 * Return the origin for an address typed by the user: `8765`, `localhost:8765`, `https://agent.example`. Null if it cannot
 * be paired with, such as a remote host without TLS.
 * @param {string} address @returns {string | null}
 */
export function serverOrigin(address) {
  const text = address.trim();
  const full = /^\d+$/.test(text) ? `http://127.0.0.1:${text}` : /^[a-z]+:\/\//i.test(text) ? text : `http://${text}`;
  if (!URL.canParse(full)) return null;
  const url = new URL(full);
  if (url.username || url.password) return null;
  if (url.protocol === 'https:') return url.origin;
  if (url.protocol !== 'http:' || !LOCAL_HOSTS.includes(url.hostname)) return null;
  // the server redirects its other names to this one, and browsers store data by origin
  return `http://127.0.0.1:${url.port || (/:80\/?$/.test(text) ? 80 : DEFAULT_PORT)}`;
}

/** Return all servers, the last paired first. @returns {Promise<Server[]>} */
export async function servers() {
  return (await read()).known;
}

/** Return the server in use, whose key may have been revoked; null if there is none. @returns {Promise<Server | null>} */
export async function usedServer() {
  const {known, used} = await read();
  return known.find(({origin}) => origin === used) ?? null;
}

/** Set the server in use. @param {string} origin */
export async function use(origin) {
  await change((known) => ({known, used: origin}));
}

/** Delete a server and its key; the user revokes the key itself in the server's approval view. @param {string} origin */
export async function forget(origin) {
  await change((known, used) => {
    const left = known.filter((each) => each.origin !== origin);
    return {known: left, used: used === origin ? (left[0]?.origin ?? '') : used};
  });
}

/** Delete a key that the server no longer accepts. @param {string} origin @param {string} key  the refused key */
export async function keyEnded(origin, key) {
  await change((known, used) => ({
    known: known.map((each) => (each.origin === origin && each.key === key ? {...each, key: null} : each)), used,
  }));
}

/** Call `handler` when the servers, or the one in use, change. @param {() => void} handler @returns {() => void} the unsubscribe function */
export function onServersChanged(handler) {
  /** @param {Record<string, chrome.storage.StorageChange>} changes @param {string} area */
  const listen = (changes, area) => {
    if (area === 'local' && ('servers' in changes || 'usedServer' in changes)) handler();
  };
  chrome.storage.onChanged.addListener(listen);
  return () => chrome.storage.onChanged.removeListener(listen);
}

/**
 * Pair with a server by the code that it shows, and use it. Waits until the user has confirmed there.
 * @param {{origin: string, code: string, name: string, signal?: AbortSignal, onAsked?: () => void}} wanted
 *   `origin`: as typed by the user; `name`: of this browser, for display; `onAsked`: called when the code was correct and the user is asked
 * @returns {Promise<PairResult>}
 */
export async function pair({origin: address, code, name, signal, onAsked}) {
  const origin = serverOrigin(address);
  if (origin === null) return {state: 'invalid_address'};
  const problem = await unreachable(origin);
  if (problem) return {state: problem};
  const asked = await askFor(origin, code.trim(), clientName(name), signal);
  if (!asked.ok) return refusal(asked);
  onAsked?.();
  const given = await takeKey(origin, asked.body.ticket, signal);
  if (!given.ok) return refusal(given);
  const server = {origin, name: given.body.name, key: given.body.key, scopes: given.body.scopes, pairedAt: Date.now()};
  await change((known) => ({known: [server, ...known.filter((each) => each.origin !== origin)], used: origin}));
  return {state: 'paired', server};
}

/**
 * Return why a server cannot be reached; null if it can.
 * @param {string} origin @returns {Promise<'no_server' | 'permission_refused' | 'not_agentcore' | null>}
 */
export async function unreachable(origin) {
  const health = `${origin}/api/health`;
  const answer = await fetch(health, {cache: 'no-store', signal: AbortSignal.timeout(ANSWER_MS)}).catch(() => null);
  if (answer) {
    const body = await answer.json().catch(() => null);
    return answer.ok && ['ok', 'starting'].includes(body?.status) ? null : 'not_agentcore';
  }
  if (await isLocalNetworkRefused()) return 'permission_refused';
  // agentcore blocks reading for unknown origins (Cross-Origin-Resource-Policy), while most servers do not
  const other = await fetch(health, {mode: 'no-cors', cache: 'no-store', signal: AbortSignal.timeout(ANSWER_MS)}).catch(() => null);
  return other ? 'not_agentcore' : 'no_server';
}

/** Return this browser's id for the server, which stays the same until the profile is deleted. @returns {Promise<string>} */
export async function instance() {
  return navigator.locks.request('instance', async () => {
    const {instance: known} = await chrome.storage.local.get('instance');
    if (typeof known === 'string') return known;
    const made = crypto.randomUUID();
    await chrome.storage.local.set({instance: made});
    return made;
  });
}

/** Return true if the browser's permissions block this extension from servers on this machine. */
async function isLocalNetworkRefused() {
  const states = await Promise.all(LOCAL_NETWORK.map((name) => (
    navigator.permissions.query({name: /** @type {PermissionName} */ (name)}).then(({state}) => state, () => 'unknown')
  )));
  return states.includes('denied');
}

/** @typedef {{ok: true, body: any} | {ok: false, type: string, message?: string}} Posted */

/** @param {string} url @param {object} body @param {AbortSignal} [signal] @param {number} [limitMs] @returns {Promise<Posted>} */
async function post(url, body, signal, limitMs = ANSWER_MS) {
  const ends = [AbortSignal.timeout(limitMs), ...(signal ? [signal] : [])];
  const init = {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify(body), signal: AbortSignal.any(ends)};
  const response = await fetch(url, init).catch(() => null);
  const answer = await response?.json().catch(() => null);
  if (response?.ok && answer) return {ok: true, body: answer};
  signal?.throwIfAborted();
  return {ok: false, type: answer?.error?.type ?? 'no_answer', message: answer?.error?.message};
}

/** Submit the code under a name that is free there, as this browser may have been paired before. @param {string} origin @param {string} code @param {string} name @param {AbortSignal} [signal] */
async function askFor(origin, code, name, signal) {
  let asked = /** @type {Posted} */ ({ok: false, type: 'approver_exists'});
  for (let number = 1; number <= NAMES_TRIED && !asked.ok && asked.type === 'approver_exists'; number += 1) {
    const body = {code, name: number === 1 ? name : `${name}-${number}`, kind: 'extension', scopes: SCOPES};
    asked = await post(`${origin}/api/approvers`, body, signal);
  }
  return asked;
}

/** Convert a name to the form that servers accept, as they show it in lists and URLs. @param {string} name */
function clientName(name) {
  return name.replace(/[^A-Za-z0-9_.-]+/g, '-').replace(/^-+|-+$/g, '').slice(0, 36) || 'browser';
}

/** Poll for the key until the user has decided. @param {string} origin @param {string} ticket @param {AbortSignal} [signal] @returns {Promise<Posted>} */
async function takeKey(origin, ticket, signal) {
  let answer = await post(`${origin}/api/approvers/key`, {ticket}, signal, KEY_ANSWER_MS);
  while (answer.ok && answer.body.state === 'waiting') answer = await post(`${origin}/api/approvers/key`, {ticket}, signal, KEY_ANSWER_MS);
  return answer;
}

/** @param {{type: string, message?: string}} refused @returns {PairResult} */
function refusal({type, message}) {
  if (type === 'no_answer') return {state: 'no_server'};
  return {state: PROBLEMS[type] ?? 'failed', message};
}

/**
 * Read, change and write, without another document or the worker in between.
 * @param {(known: Server[], used: string) => {known: Server[], used: string}} changed
 */
async function change(changed) {
  await navigator.locks.request('servers', async () => {
    const before = await read();
    const {known, used} = changed(before.known, before.used);
    await chrome.storage.local.set({servers: known, usedServer: used});
  });
}

/** @returns {Promise<{known: Server[], used: string}>} */
async function read() {
  const {servers: known, usedServer: used} = /** @type {any} */ (await chrome.storage.local.get({servers: [], usedServer: ''}));
  return {known, used};
}
