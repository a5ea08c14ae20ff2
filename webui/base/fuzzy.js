/**
 * Fuzzy search: the letters of the query must appear in order, gaps allowed; word starts and runs score higher.
 *
 * @typedef {{score: number, positions: number[]}} Match  `positions` are indexes of UTF-16 code units of the text.
 */

const RUN = 8;        // the letter directly follows the previous one
const WORD_START = 6; // the letter starts a word: after a separator, or as a capital
const TEXT_START = 4;
const GAP = 1;        // each skipped letter, up to a limit
const GAP_BOUND = 6;
const MISS = -1e9;

/**
 * Match a query against a text; return null if the text does not contain all of its letters in order.
 * @param {string} query
 * @param {string} text
 * @returns {Match | null}
 */
export function match(query, text) {
  const wanted = query.toLowerCase().replaceAll(/\s+/g, '');
  const there = text.toLowerCase();
  if (wanted.length === 0) return {score: 0, positions: []};
  if (wanted.length > there.length || !isSubsequence(wanted, there)) return null;
  return bestMatch(wanted, there, text);
}

/**
 * Return the things that match a query, best first; all of them, in their order, if the query is empty.
 *
 * Each word of the query is matched separately, against all texts; an earlier text weighs more.
 * @template T
 * @param {string} query
 * @param {readonly T[]} things
 * @param {(thing: T) => string[]} textsOf
 * @returns {{thing: T, score: number, positions: number[][]}[]}  Positions for each text.
 */
export function search(query, things, textsOf) {
  const words = query.trim().split(/\s+/).filter(Boolean);
  const found = [];
  for (const thing of things) {
    const ranked = rank(words, textsOf(thing));
    if (ranked) found.push({thing, ...ranked});
  }
  return words.length ? found.sort((one, other) => other.score - one.score) : found;
}

/** @param {string[]} words @param {string[]} texts */
function rank(words, texts) {
  /** @type {number[][]} */
  const positions = texts.map(() => []);
  let score = 0;
  for (const word of words) {
    const found = texts.map((text, index) => ({index, hit: matchIn(word, text, index)})).filter(({hit}) => hit);
    if (found.length === 0) return null;
    const weigh = (/** @type {typeof found[0]} */ one) => /** @type {Match} */ (one.hit).score / (one.index + 1);
    const best = found.reduce((one, other) => (weigh(other) > weigh(one) ? other : one));
    score += weigh(best);
    positions[best.index].push(.../** @type {Match} */ (best.hit).positions);
  }
  return {score, positions};
}

/** Match a word against a text; in all but the first text it must appear literally, as scattered letters in a long text mean nothing. */
function matchIn(/** @type {string} */ word, /** @type {string} */ text, /** @type {number} */ index) {
  if (index === 0) return match(word, text);
  const start = text.toLowerCase().indexOf(word.toLowerCase());
  if (start < 0) return null;
  const isWord = start === 0 || /[\s_.\-/]/.test(text[start - 1]);
  return {score: word.length * RUN + (isWord ? WORD_START : 0), positions: Array.from(word, (_, at) => start + at)};
}

/** @param {string} wanted @param {string} there */
function isSubsequence(wanted, there) {
  let at = 0;
  for (const letter of wanted) {
    at = there.indexOf(letter, at);
    if (at < 0) return false;
    at += letter.length;
  }
  return true;
}

/**
 * Return the best alignment of the letters, by dynamic programming over (letter of the query, letter of the text).
 * @param {string} wanted @param {string} there @param {string} text @returns {Match}
 */
function bestMatch(wanted, there, text) {
  const [rows, columns] = [wanted.length, there.length];
  const scores = Array.from({length: rows}, () => new Float64Array(columns).fill(MISS));
  const before = Array.from({length: rows}, () => new Int32Array(columns).fill(-1));
  for (let row = 0; row < rows; row += 1) {
    for (let column = row; column < columns; column += 1) {
      if (there[column] !== wanted[row]) continue;
      const own = startBonus(text, column);
      if (row === 0) {
        scores[row][column] = own - Math.min(column, GAP_BOUND) * GAP * 0.5;
        continue;
      }
      for (let last = row - 1; last < column; last += 1) {
        if (scores[row - 1][last] === MISS) continue;
        const gap = column - last - 1;
        const score = scores[row - 1][last] + own + (gap === 0 ? RUN : -Math.min(gap, GAP_BOUND) * GAP);
        if (score > scores[row][column]) [scores[row][column], before[row][column]] = [score, last];
      }
    }
  }
  let column = scores[rows - 1].reduce((best, score, at, all) => (score > all[best] ? at : best), 0);
  const score = scores[rows - 1][column] - (columns - rows) * 0.05; // of equal matches, prefer the shorter text
  const positions = [];
  for (let row = rows - 1; row >= 0; row -= 1) {
    positions.unshift(column);
    column = before[row][column];
  }
  return {score, positions};
}

/** @param {string} text @param {number} at */
function startBonus(text, at) {
  if (at === 0) return TEXT_START + WORD_START;
  const isCapital = text[at] !== text[at].toLowerCase() && text[at - 1] === text[at - 1].toLowerCase();
  return isCapital || /[\s_.\-/]/.test(text[at - 1]) ? WORD_START : 0;
}
