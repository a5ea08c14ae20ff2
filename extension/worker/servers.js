/**
 * The servers that this browser is paired with. One is used at a time, and the extension talks to no other.
 *
 * Works in the worker and in the panel; nothing else reads or writes them.
 */

/**
 * @typedef {object} Server
 * @property {string} origin  `http://127.0.0.1:8765`, or `https://…`
 * @property {string} name  what this browser is called there
 * @property {string | null} key  null: the server does not take it any more, and it has to be paired anew
 * @property {string[]} scopes  what the person allowed: `approve`, `chat`, `tab`
 * @property {number} pairedAt  milliseconds since 1970
 *
 * Why there is no pairing: `no_server` nothing answers, or an agentcore that does not allow this extension: a browser tells
 * both in the same way, unless the person has allowed the extension the pages of that host ·
 * `permission_refused` the browser keeps extensions from servers on this machine · `not_agentcore` something else answers
 * · `unknown_extension` that, where it can be told · `wrong_code` · `refused` by the person · `expired`
 * nobody decided · `invalid_address` · `failed` whatever the server says in `message`.
 * @typedef {'no_server' | 'permission_refused' | 'not_agentcore' | 'unknown_extension' | 'wrong_code' | 'refused' | 'expired'
 *   | 'invalid_address' | 'failed'} PairProblem
 * @typedef {{state: 'paired', server: Server} | {state: PairProblem, message?: string}} PairResult
 */

const SCOPES = ['chat', 'approve', 'tab'];
const NAMES_TRIED = 20;
const DEFAULT_PORT = 8765;
/** How long an answer may take that does not wait for a person. */
const ANSWER_MS = 10_000;
/** The server holds each question for the key for 25 seconds. */
const KEY_ANSWER_MS = 60_000;
const LOCAL_HOSTS = ['127.0.0.1', 'localhost', '[::1]'];
/** What the permission is called since Chrome 145, and in 142 to 144. */
const LOCAL_NETWORK = ['loopback-network', 'local-network-access'];
/** @type {Record<string, PairProblem>} */
const PROBLEMS = {
  invalid_code: 'wrong_code',
  pairing_refused: 'refused',
  pairing_not_found: 'expired',
  foreign_origin: 'unknown_extension',
};

/**
 * The origin that a person means: `8765`, `localhost:8765`, `https://agent.example`. Null: none that could be paired with,
 * such as one in the open network without TLS.
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
  // the server redirects its other names to this one, and what a browser keeps is kept by origin
  return `http://127.0.0.1:${url.port || (/:80\/?$/.test(text) ? 80 : DEFAULT_PORT)}`;
}

/** All servers, the last paired first. @returns {Promise<Server[]>} */
export async function servers() {
  return (await read()).known;
}

/** The server that is used, whose key may have ended; null: none. @returns {Promise<Server | null>} */
export async function usedServer() {
  const {known, used} = await read();
  return known.find(({origin}) => origin === used) ?? null;
}

/** Use one of the servers from now on. @param {string} origin */
export async function use(origin) {
  await change((known) => ({known, used: origin}));
}

/** Forget a server and its key; the person revokes the key itself in the server's approval view. @param {string} origin */
export async function forget(origin) {
  await change((known, used) => {
    const left = known.filter((each) => each.origin !== origin);
    return {known: left, used: used === origin ? (left[0]?.origin ?? '') : used};
  });
}

/** The server does not take its key any more. @param {string} origin @param {string} key  the one that it refused */
export async function keyEnded(origin, key) {
  await change((known, used) => ({
    known: known.map((each) => (each.origin === origin && each.key === key ? {...each, key: null} : each)), used,
  }));
}

/** Call `handler` whenever servers, or the one that is used, change. @param {() => void} handler @returns {() => void} the way to end it */
export function onServersChanged(handler) {
  /** @param {Record<string, chrome.storage.StorageChange>} changes @param {string} area */
  const listen = (changes, area) => {
    if (area === 'local' && ('servers' in changes || 'usedServer' in changes)) handler();
  };
  chrome.storage.onChanged.addListener(listen);
  return () => chrome.storage.onChanged.removeListener(listen);
}

/**
 * Pair with a server by the code that it shows, and use it: a person confirms there, which this waits for.
 * @param {{origin: string, code: string, name: string, signal?: AbortSignal, onAsked?: () => void}} wanted
 *   `origin`: as the person typed it; `name`: of this browser, for people; `onAsked`: the code was right, a person is asked now
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
 * Why a server cannot be talked to; null: it can.
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
  // agentcore keeps answers from whom it does not know (Cross-Origin-Resource-Policy), and most servers do not
  const other = await fetch(health, {mode: 'no-cors', cache: 'no-store', signal: AbortSignal.timeout(ANSWER_MS)}).catch(() => null);
  return other ? 'not_agentcore' : 'no_server';
}

/** This browser's own name for itself, for the server: the same until the profile is gone. @returns {Promise<string>} */
export async function instance() {
  return navigator.locks.request('instance', async () => {
    const {instance: known} = await chrome.storage.local.get('instance');
    if (typeof known === 'string') return known;
    const made = crypto.randomUUID();
    await chrome.storage.local.set({instance: made});
    return made;
  });
}

/** Whether the person, or a rule of theirs, keeps this extension from servers on this machine. */
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

/** Show the code, under a name that no other client has there: this browser may have been paired before. @param {string} origin @param {string} code @param {string} name @param {AbortSignal} [signal] */
async function askFor(origin, code, name, signal) {
  let asked = /** @type {Posted} */ ({ok: false, type: 'approver_exists'});
  for (let number = 1; number <= NAMES_TRIED && !asked.ok && asked.type === 'approver_exists'; number += 1) {
    const body = {code, name: number === 1 ? name : `${name}-${number}`, kind: 'extension', scopes: SCOPES};
    asked = await post(`${origin}/api/approvers`, body, signal);
  }
  return asked;
}

/** A name as servers take it, who show it in lists and in addresses. @param {string} name */
function clientName(name) {
  return name.replace(/[^A-Za-z0-9_.-]+/g, '-').replace(/^-+|-+$/g, '').slice(0, 36) || 'browser';
}

/** Ask for the key until the person has decided. @param {string} origin @param {string} ticket @param {AbortSignal} [signal] @returns {Promise<Posted>} */
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
 * Read, change and write without another document or the worker in between.
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
