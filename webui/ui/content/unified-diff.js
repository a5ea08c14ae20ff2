/**
 * Unified diffs as returned by tools, alone or inside other text.
 *
 * @typedef {{kind: 'context' | 'added' | 'removed' | 'note', before: number | null, after: number | null, text: string}} DiffLine
 * @typedef {{title: string, lines: DiffLine[]}} Hunk
 * @typedef {{before: string, after: string, hunks: Hunk[]}} FileDiff
 */

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)$/;

/**
 * Split a text into parts that are diffs and parts that are not, in order.
 * @param {string} text
 * @returns {{isDiff: boolean, text: string}[]}
 */
export function partsOf(text) {
  const lines = text.split('\n');
  /** @type {{isDiff: boolean, lines: string[]}[]} */
  const parts = [];
  let at = 0;
  while (at < lines.length) {
    const end = diffEnd(lines, at);
    const isDiff = end > at;
    const last = parts.at(-1);
    const taken = lines.slice(at, Math.max(end, at + 1));
    if (last && last.isDiff === isDiff) last.lines.push(...taken);
    else parts.push({isDiff, lines: taken});
    at = Math.max(end, at + 1);
  }
  return parts.map(({isDiff, lines: own}) => ({isDiff, text: own.join('\n')})).filter((part) => part.isDiff || part.text.trim());
}

/** Return true if a text contains a diff. @param {string} text */
export const holdsDiff = (text) => /^@@ -\d/m.test(text) && partsOf(text).some(({isDiff}) => isDiff);

/**
 * Parse a diff into its files.
 * @param {string} text
 * @returns {FileDiff[]}
 */
export function parseDiff(text) {
  const lines = text.split('\n');
  /** @type {FileDiff[]} */
  const files = [];
  let at = 0;
  while (at < lines.length) {
    const head = headAt(lines, at);
    if (head) {
      files.push({before: nameIn(lines[head.names]), after: nameIn(lines[head.names + 1]), hunks: []});
      at = head.names + 2;
    } else if (HUNK.test(lines[at])) {
      if (files.length === 0) files.push({before: '', after: '', hunks: []});
      const {hunk, end} = hunkAt(lines, at);
      /** @type {FileDiff} */ (files.at(-1)).hunks.push(hunk);
      at = end;
    } else at += 1;
  }
  return files;
}

/** Return the index of the line after a diff that starts here; `start` itself if none does. @param {string[]} lines @param {number} start */
function diffEnd(lines, start) {
  const head = headAt(lines, start);
  let at = head ? head.names + 2 : start;
  if (!HUNK.test(lines[at] ?? '')) return start;
  while (HUNK.test(lines[at] ?? '')) at = hunkAt(lines, at).end;
  return at;
}

/** Find the two lines with the names of a file, after the header lines of git. @param {string[]} lines @param {number} at */
function headAt(lines, at) {
  let names = at;
  if (lines[at]?.startsWith('diff ')) {
    names += 1;
    while (/^(index|old mode|new mode|new file|deleted file|similarity|rename|copy) /.test(lines[names] ?? '')) names += 1;
  }
  return lines[names]?.startsWith('--- ') && lines[names + 1]?.startsWith('+++ ') ? {names} : null;
}

/** @param {string[]} lines @param {number} at */
function hunkAt(lines, at) {
  const [, before, beforeCount = '1', after, afterCount = '1', title] = /** @type {RegExpExecArray} */ (HUNK.exec(lines[at]));
  let [old, now] = [Number(before), Number(after)];
  const [oldEnd, nowEnd] = [old + Number(beforeCount), now + Number(afterCount)];
  /** @type {DiffLine[]} */
  const found = [];
  let end = at + 1;
  for (; end < lines.length && (old < oldEnd || now < nowEnd || lines[end].startsWith('\\')); end += 1) {
    const [sign, text] = [lines[end][0] ?? ' ', lines[end].slice(1)];
    if (sign === '+') found.push({kind: 'added', before: null, after: now++, text});
    else if (sign === '-') found.push({kind: 'removed', before: old++, after: null, text});
    else if (sign === '\\') found.push({kind: 'note', before: null, after: null, text: text.trim()});
    else if (sign === ' ') found.push({kind: 'context', before: old++, after: now++, text});
    else break; // the text was cut, or something else follows
  }
  return {hunk: {title: title.trim(), lines: found}, end};
}

/** @param {string} line */
function nameIn(line) {
  const name = line.slice(4).split('\t')[0];
  return name === '/dev/null' ? '' : name.replace(/^[ab]\//, '');
}
