/** A call as a curl command, a CLI command or a JSON body. */
import {canShow, shapeOf} from '../schema/shape.js';

/**
 * @typedef {object} RunRequest
 * @property {string} tool
 * @property {Record<string, any>} args
 * @property {string} [sessionId]
 * @property {number} [timeoutMs]
 * @property {string} [host]  host on another machine
 */

/**
 * Return the body of `POST /api/tools/NAME/call`.
 * @param {RunRequest} request
 */
export function bodyOf({args, sessionId, timeoutMs, host}) {
  return {arguments: args, ...(sessionId && {session_id: sessionId}), ...(timeoutMs && {timeout_ms: timeoutMs}), ...(host && {host})};
}

/**
 * Return a command for a POSIX shell; the token comes from the environment, so that it does not end up in the shell history.
 * @param {RunRequest} request
 * @param {string} origin  Such as `http://127.0.0.1:8000`.
 */
export function asCurl(request, origin) {
  return [
    `curl -sS ${quoted(`${origin}/api/tools/${encodeURIComponent(request.tool)}/call`)}`,
    '-H "Authorization: Bearer $AGENTCORE_TOKEN"',
    "-H 'Content-Type: application/json'",
    `--data-raw ${quoted(JSON.stringify(bodyOf(request)))}`,
  ].join(' \\\n  ');
}

/**
 * Return `agentcore call …` with the same arguments: `key=value` where the CLI parses the value by the schema, else `key:=JSON`.
 * @param {RunRequest} request
 * @param {import('../schema/shape.js').Schema} [schema]  The tool's input schema.
 */
export function asCli({tool, args, sessionId, timeoutMs, host}, schema = {}) {
  const names = Object.keys(args).filter((name) => args[name] !== undefined);
  const options = [
    ...(sessionId ? ['--session', quoted(sessionId)] : []),
    ...(timeoutMs ? ['--timeout', String(timeoutMs / 1000)] : []),
    ...(host ? ['--host', quoted(host)] : []),
  ];
  const head = ['agentcore call', ...options];
  const named = tool.startsWith('-') ? ['--', tool] : [tool];
  if (names.some((name) => !/^[A-Za-z_][A-Za-z0-9_.]*$/.test(name))) {
    return [...head, '--json-arguments', quoted(JSON.stringify(args)), ...named].join(' ');
  }
  const words = names.map((name) => quoted(word(name, args[name], schema.properties?.[name] ?? {}, schema)));
  return [...head, ...named, ...words].join(' ');
}

/**
 * Return the request body as indented JSON.
 * @param {RunRequest} request
 */
export const asJson = (request) => JSON.stringify(bodyOf(request), null, 2);

const PLAIN_KINDS = new Set(['text', 'date', 'file', 'number', 'boolean']);

/** @param {string} name @param {any} value @param {import('../schema/shape.js').Schema} part @param {object} root */
function word(name, value, part, root) {
  const shape = shapeOf(part, root);
  const isPlain = PLAIN_KINDS.has(shape.kind) && value !== null && canShow(shape, value);
  // a text that starts with @ would be read as a file name
  return isPlain && !String(value).startsWith('@') ? `${name}=${value}` : `${name}:=${JSON.stringify(value)}`;
}

/** Quote a text as one word for a POSIX shell. @param {string} text */
export function quoted(text) {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
