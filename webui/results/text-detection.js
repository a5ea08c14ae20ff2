/** Detects the form of a text from its content; the user can choose another. */
import {tableIn, tableOf} from '../ui/content/table-data.js';
import {holdsDiff} from '../ui/content/unified-diff.js';

/** @typedef {'text' | 'code' | 'markdown' | 'json' | 'table' | 'diff'} Form */

const NUMBERED = /^ *(\d+)\t/;
const MARKS = [/^#{1,6} \S/m, /^(```|~~~)/m, /\[[^\]\n]+\]\([^)\s]+\)/, /\*\*[^*\n]+\*\*/, /^\s*([-*]|\d+\.) \S/m, /^\|.*\|\s*\n\|[\s:|-]+\|/m];
const JSON_CHARS = 2_000_000;

/**
 * Return the forms in which a text can be shown, best fit first.
 * @param {string} text
 * @returns {Form[]}
 */
export function formsOf(text) {
  if (holdsDiff(text)) return ['diff', 'text'];
  const value = jsonOf(text);
  if (value !== undefined) return tableOf(value) || tableIn(value) ? ['table', 'json', 'text'] : ['json', 'text'];
  if (numberedLines(text)) return ['code', 'text'];
  const marks = MARKS.filter((mark) => mark.test(text)).length;
  return marks >= 2 ? ['markdown', 'text'] : ['text', 'markdown'];
}

/**
 * Return the diffs among the top-level values of structured data; they are shown whatever the text beside them says.
 * @param {any} data
 * @returns {string[]}
 */
export function diffsIn(data) {
  if (data === null || typeof data !== 'object') return [];
  return Object.values(data).filter((part) => typeof part === 'string' && holdsDiff(part));
}

/**
 * Parse a text that is a JSON object or array; undefined if it is neither.
 * @param {string} text
 * @returns {any}
 */
export function jsonOf(text) {
  const first = text.trimStart()[0];
  if ((first !== '{' && first !== '[') || text.length > JSON_CHARS) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Return the lines of a text in which each has a number and a tab before it, as written by `cat -n`; null otherwise.
 * @param {string} text
 * @returns {{first: number, text: string} | null}
 */
export function numberedLines(text) {
  const lines = text.replace(/\n$/, '').split('\n');
  const first = Number(NUMBERED.exec(lines[0])?.[1] ?? NaN);
  if (Number.isNaN(first)) return null;
  if (!lines.every((line, index) => Number(NUMBERED.exec(line)?.[1] ?? NaN) === first + index)) return null;
  return {first, text: lines.map((line) => line.slice(line.indexOf('\t') + 1)).join('\n')};
}

/** @type {Record<string, string>} */
const LANGUAGES = {
  bash: 'bash', c: 'c', cc: 'cpp', cpp: 'cpp', css: 'css', diff: 'diff', go: 'go', h: 'c', hpp: 'cpp', htm: 'xml', html: 'xml', ini: 'ini',
  java: 'java', js: 'javascript', json: 'json', jsx: 'javascript', kt: 'kotlin', lua: 'lua', md: 'markdown', mjs: 'javascript', patch: 'diff',
  php: 'php', py: 'python', rb: 'ruby', rs: 'rust', sh: 'bash', sql: 'sql', svg: 'xml', swift: 'swift', toml: 'ini', ts: 'typescript',
  tsx: 'typescript', xml: 'xml', yaml: 'yaml', yml: 'yaml', zsh: 'bash',
};

/**
 * Return the language of a file by its name, or '' if it is unknown.
 * @param {unknown} name
 */
export function languageOf(name) {
  if (typeof name !== 'string') return '';
  const file = name.slice(name.lastIndexOf('/') + 1).toLowerCase();
  if (file === 'dockerfile' || file === 'makefile') return file;
  return LANGUAGES[file.slice(file.lastIndexOf('.') + 1)] ?? '';
}
