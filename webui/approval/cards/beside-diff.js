/** Find the parts of a call that its diff does not contain: the user sees the diff, and all of these beside it. */
import {parseDiff, partsOf} from '../../ui/content/unified-diff.js';

/** Lines and file names that one diff contains. */
class Said {
  /** @param {string} diff */
  constructor(diff) {
    const files = parseDiff(diff);
    this._lines = new Set(linesOf(files).map(({text}) => text));
    this._changes = new Set(changesOf(files));
    this._changed = [...this._changes].map((change) => change.slice(1));
    this._names = files.flatMap(({before, after}) => [before, after]).filter(Boolean);
  }

  /** Return true if the diff contains all of a value; numbers and booleans never count as contained. @param {unknown} value @returns {boolean} */
  has(value) {
    if (typeof value === 'string') return value !== '' && (this.names(value) || this._holds(value) || this._repeats(value));
    if (value === null || typeof value !== 'object') return false;
    const parts = Object.values(value);
    return parts.length > 0 && parts.every((part) => this.has(part));
  }

  /** Return true if a path is that of one of the files. @param {string} path */
  names(path) {
    const plain = path.replace(/^\.\//, '');
    return this._names.some((name) => isEnd(name, plain) || isEnd(plain, name));
  }

  /** Return true if a text is itself a diff with the same changes in the same files; positions and context of its hunks may differ. @param {string} text */
  _repeats(text) {
    if (!partsOf(text).every(({isDiff}) => isDiff)) return false;
    const files = parseDiff(text);
    return files.length > 0 && files.every(({before, after}) => [before, after].every((name) => !name || this.names(name))) && changesOf(files).every((change) => this._changes.has(change));
  }

  /** Return true if the diff contains all lines of a text; the first and the last may be parts of a changed line. @param {string} text */
  _holds(text) {
    const lines = text.split('\n');
    const isPart = (/** @type {string} */ line) => this._lines.has(line) || this._changed.some((changed) => changed.includes(line));
    return lines.slice(1, -1).every((line) => line === '' || this._lines.has(line)) && isPart(lines[0]) && (lines.at(-1) === '' || isPart(String(lines.at(-1))));
  }
}

/** Return all lines of a diff. @param {import('../../ui/content/unified-diff.js').FileDiff[]} files */
const linesOf = (files) => files.flatMap(({hunks}) => hunks.flatMap(({lines}) => lines));

/** Return the added and removed lines, with their sign. @param {import('../../ui/content/unified-diff.js').FileDiff[]} files */
const changesOf = (files) => linesOf(files).filter(({kind}) => kind in SIGNS).map(({kind, text}) => SIGNS[kind] + text);

/** @type {Record<string, string>} */
const SIGNS = {added: '+', removed: '-'};

/** Return the arguments that the diff does not contain; all of them if there is no diff. @param {Record<string, unknown>} args @param {string} diff */
export function argumentsBeside(args, diff) {
  if (!diff) return Object.entries(args);
  const said = new Said(diff);
  return Object.entries(args).filter(([, value]) => !said.has(value));
}

/**
 * Return what a call would touch that neither its arguments nor its diff contain, such as the target of a link.
 * @param {import('./pending-requests.js').WaitingCall} call
 */
export function touchesBeside({touches, arguments: args, preview}) {
  const said = new Said(preview?.diff ?? '');
  const texts = leaves(args).map((text) => text.replace(/^\.\//, ''));
  const isSaid = (/** @type {string} */ value) => value === preview?.cwd || said.names(value) || texts.some((text) => isEnd(value, text));
  return touches
    .map((touched) => ({...touched, values: touched.values.filter((value) => !isSaid(value))}))
    .filter(({values}) => values.length > 0);
}

/** Return true if a path ends with another, whole names only. @param {string} path @param {string} end */
const isEnd = (path, end) => end !== '' && (path === end || path.endsWith(`/${end}`));

/** Return all strings in a value. @param {unknown} value @returns {string[]} */
function leaves(value) {
  if (typeof value === 'string') return [value];
  return value !== null && typeof value === 'object' ? Object.values(value).flatMap(leaves) : [];
}
