/** What of a call its diff does not say: a person reads the diff, and all of this beside it. */
import {parseDiff, partsOf} from '../../ui/content/unified-diff.js';

/** What one diff says: lines that change, and names of files. */
class Said {
  /** @param {string} diff */
  constructor(diff) {
    const files = parseDiff(diff);
    this._lines = new Set(linesOf(files).map(({text}) => text));
    this._changes = new Set(changesOf(files));
    this._changed = [...this._changes].map((change) => change.slice(1));
    this._names = files.flatMap(({before, after}) => [before, after]).filter(Boolean);
  }

  /** Whether all of a value stands there: numbers and yes or no never do. @param {unknown} value @returns {boolean} */
  has(value) {
    if (typeof value === 'string') return value !== '' && (this.names(value) || this._holds(value) || this._repeats(value));
    if (value === null || typeof value !== 'object') return false;
    const parts = Object.values(value);
    return parts.length > 0 && parts.every((part) => this.has(part));
  }

  /** Whether a path is that of one of the files. @param {string} path */
  names(path) {
    const plain = path.replace(/^\.\//, '');
    return this._names.some((name) => isEnd(name, plain) || isEnd(plain, name));
  }

  /** Whether a value is a diff itself, of the same lines in the same files: where its hunks begin and what is around them may differ. @param {string} text */
  _repeats(text) {
    if (!partsOf(text).every(({isDiff}) => isDiff)) return false;
    const files = parseDiff(text);
    return files.length > 0 && files.every(({before, after}) => [before, after].every((name) => !name || this.names(name))) && changesOf(files).every((change) => this._changes.has(change));
  }

  /** The first and the last line may be parts of a line that changes. @param {string} text */
  _holds(text) {
    const lines = text.split('\n');
    const isPart = (/** @type {string} */ line) => this._lines.has(line) || this._changed.some((changed) => changed.includes(line));
    return lines.slice(1, -1).every((line) => line === '' || this._lines.has(line)) && isPart(lines[0]) && (lines.at(-1) === '' || isPart(String(lines.at(-1))));
  }
}

/** All lines of a diff. @param {import('../../ui/content/unified-diff.js').FileDiff[]} files */
const linesOf = (files) => files.flatMap(({hunks}) => hunks.flatMap(({lines}) => lines));

/** The lines that come and go, with their sign. @param {import('../../ui/content/unified-diff.js').FileDiff[]} files */
const changesOf = (files) => linesOf(files).filter(({kind}) => kind in SIGNS).map(({kind, text}) => SIGNS[kind] + text);

/** @type {Record<string, string>} */
const SIGNS = {added: '+', removed: '-'};

/** The arguments that the diff does not say; all of them where there is none. @param {Record<string, unknown>} args @param {string} diff */
export function argumentsBeside(args, diff) {
  if (!diff) return Object.entries(args);
  const said = new Said(diff);
  return Object.entries(args).filter(([, value]) => !said.has(value));
}

/**
 * What a call would touch that neither its arguments nor its diff say, such as the file that a link leads to.
 * @param {import('./waiting.js').WaitingCall} call
 */
export function touchesBeside({touches, arguments: args, preview}) {
  const said = new Said(preview?.diff ?? '');
  const texts = leaves(args).map((text) => text.replace(/^\.\//, ''));
  const isSaid = (/** @type {string} */ value) => value === preview?.cwd || said.names(value) || texts.some((text) => isEnd(value, text));
  return touches
    .map((touched) => ({...touched, values: touched.values.filter((value) => !isSaid(value))}))
    .filter(({values}) => values.length > 0);
}

/** Whether a path ends with another, whole names only. @param {string} path @param {string} end */
const isEnd = (path, end) => end !== '' && (path === end || path.endsWith(`/${end}`));

/** All texts of a value. @param {unknown} value @returns {string[]} */
function leaves(value) {
  if (typeof value === 'string') return [value];
  return value !== null && typeof value === 'object' ? Object.values(value).flatMap(leaves) : [];
}
