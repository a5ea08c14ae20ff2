/**
 * User-facing summary of a call, as declared by its tool (`display`): read from its arguments and, once it has ended, from its
 * data. The page knows the roles of the declaration, but no specific tool.
 *
 * @typedef {{old: string, new: string}} Edit
 * @typedef {object} Display
 * @property {string} subject  summary in one line
 * @property {string} command
 * @property {string} path
 * @property {number | null} firstLine
 * @property {number | null} lastLine
 * @property {string | null} content  the whole new text of the file
 * @property {Edit[]} edits
 * @property {any[]} todos
 * @property {string | null} output  output of a command; null if it is unknown
 * @property {number | null} exitCode
 * @property {Record<string, any>} rest  arguments without a role
 */
import {t} from '../base/i18n.js';

/** @typedef {'subject' | 'command' | 'output' | 'exit_code' | 'path' | 'first_line' | 'last_line' | 'line_count' | 'content' | 'edits' | 'todos'} Role */

/**
 * @param {Record<string, any>} args
 * @param {any} data  of the result; null if there is none
 * @param {Record<string, Role>} [declared]
 * @returns {Display}
 */
export function readDisplay(args, data, declared = {}) {
  const values = data !== null && typeof data === 'object' ? {...args, ...data} : args;
  const found = (/** @type {Role} */ role) => Object.entries(declared).filter(([, own]) => own === role).map(([name]) => values[name]);
  const text = (/** @type {Role} */ role) => found(role).find((value) => typeof value === 'string') ?? '';
  // data come after arguments in a declaration, and have the final value
  const number = (/** @type {Role} */ role) => found(role).findLast((value) => typeof value === 'number') ?? null;
  const list = (/** @type {Role} */ role) => found(role).find(Array.isArray) ?? [];
  const outputs = found('output').filter((value) => typeof value === 'string');
  const [firstLine, count] = [number('first_line'), number('line_count')];
  return {
    subject: text('subject'),
    command: text('command'),
    path: text('path'),
    firstLine,
    lastLine: number('last_line') ?? (firstLine !== null && count !== null ? firstLine + count - 1 : null),
    content: found('content').find((value) => typeof value === 'string') ?? null,
    edits: list('edits').filter((/** @type {any} */ edit) => typeof edit?.old === 'string' && typeof edit?.new === 'string'),
    todos: list('todos'),
    output: outputs.length ? outputs.filter(Boolean).join('\n') : null,
    exitCode: number('exit_code'),
    rest: Object.fromEntries(Object.entries(args).filter(([name, value]) => !(name in declared) && value !== null && value !== undefined)),
  };
}

/** Return a call's one-line summary, or '' if its tool declares nothing for it. @param {Display} display */
export function headline({subject, command, path, firstLine, lastLine, todos}) {
  if (subject || command) return firstLineOf(subject || command);
  if (path && firstLine !== null && lastLine !== null && lastLine >= firstLine) return `${path} · ${t('results.lines', {first: firstLine, last: lastLine})}`;
  if (path) return path;
  return todos.length ? t('results.todoCount', {done: todos.filter(isDone).length, all: todos.length}) : '';
}

/** Return a new file or its edits as a unified diff. @param {Display} display @returns {string} */
export function diffOf({path, content, edits}) {
  const name = path || t('ui.diff');
  if (content !== null) {
    const lines = content.replace(/\n$/, '').split('\n');
    return `--- /dev/null\n+++ ${name}\n@@ -0,0 +1,${lines.length} @@\n${lines.map((line) => `+${line}`).join('\n')}`;
  }
  return edits.length ? `--- ${name}\n+++ ${name}\n${edits.map(hunkOf).join('\n')}` : '';
}

/** @param {any} todo */
export const isDone = ({status} = {}) => status === 'completed' || status === 'done' || status === 'cancelled';

/** Return an edit as a hunk; common lines at the start and end become context lines. @param {Edit} edit */
function hunkOf({old, new: now}) {
  const [before, after] = [old.split('\n'), now.split('\n')];
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < before.length - head && tail < after.length - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const middle = (/** @type {string[]} */ lines, /** @type {string} */ sign) => lines.slice(head, lines.length - tail).map((line) => sign + line);
  const lines = [...before.slice(0, head).map((line) => ` ${line}`), ...middle(before, '-'), ...middle(after, '+'), ...before.slice(before.length - tail).map((line) => ` ${line}`)];
  return `@@ -1,${before.length} +1,${after.length} @@\n${lines.join('\n')}`;
}

/** @param {string} text */
function firstLineOf(text) {
  const lines = text.trim().split('\n');
  return lines.length > 1 ? `${lines[0]} …` : lines[0];
}
