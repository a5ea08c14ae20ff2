import {word} from './texts.js';

/**
 * A process as listed by the server.
 * @typedef {object} Process
 * @property {string} processId
 * @property {string} sessionId
 * @property {string} command
 * @property {string} cwd
 * @property {boolean} hasTerminal
 * @property {boolean} isRunning
 * @property {number | null} exitCode
 * @property {string | null} signal
 * @property {number} startedAt  milliseconds since 1970
 * @property {number | null} endedAt
 */

/**
 * Return the state of a process as a short text, and the badge for it.
 * @param {Process} process
 * @param {string} locale
 * @returns {{text: string, kind: string}}
 */
export function stateOf({isRunning, exitCode, signal}, locale) {
  if (isRunning) return {text: word(locale, 'running'), kind: 'accent'};
  if (signal) return {text: `${word(locale, 'ended')} · ${signal}`, kind: ''};
  return {text: word(locale, 'exit', {code: exitCode ?? '?'}), kind: exitCode === 0 ? 'ok' : 'danger'};
}

/** Return a command on one line. @param {string} command */
export function oneLine(command) {
  return command.replace(/\s+/g, ' ').trim();
}
