/**
 * Formulas in Markdown, as models write them: `\(a\)` and `$a$` in a line, `\[a\]` and `$$a$$` displayed. A `$` counts only where it
 * cannot be of a price or a variable of a shell.
 */
const LIMIT_CHARS = 4000;
const LINE_CHARS = 1000; // of a formula in a line: bounds the search for its end
const SEARCH_CHARS = 2000; // of one step of the search for the next start, which marked repeats for each part of a paragraph

/** @typedef {{raw: string, tex: string, isDisplay: boolean}} Formula */

const BODY = String.raw`(?:[^\\$]|\\[\s\S]|\$(?!\$))`;
const BLOCKS = [
  new RegExp(String.raw`^ {0,3}\\\[((?:[^\\]|\\(?!\])[\s\S]){1,${LIMIT_CHARS}}?)\\\][ \t]*(?:\n+|$)`),
  new RegExp(String.raw`^ {0,3}\$\$(${BODY}{1,${LIMIT_CHARS}}?)\$\$[ \t]*(?:\n+|$)`),
];
const PARENTHESES = new RegExp(String.raw`^\\\(((?:[^\\\x60]|\\(?!\))[^\x60]){1,${LINE_CHARS}}?)\\\)`);
const BRACKETS = new RegExp(String.raw`^\\\[((?:[^\\\x60]|\\(?!\])[^\x60]){1,${LINE_CHARS}}?)\\\](?!\()`);
const DOLLARS = new RegExp(String.raw`^\$\$(${BODY}{1,${LINE_CHARS}}?)\$\$(?![\w$])`);
/** One line, no space inside of the dollars, and nothing behind it that could be of a name or an amount. */
const DOLLAR = new RegExp(String.raw`^\$(?!\s)((?:[^\\$\n\x60]|\\[^\n]){1,${LINE_CHARS}}?)(?<!\s)\$(?![\w{($])`);
const AMOUNT = /^\d[\d.,]*\s*(?:\p{L}{2,}|[-–/|]\s*$)/u; // `$5 each or 6$`
const LOOKS_LIKE_TEX = /[\\^_=+<>]/; // what tells a formula from escaped brackets, and from the process id of a shell
const START = /\\[([]|(?<![\w$\\])\$/;
const BLOCK_START = /\n {0,3}(?:\\\[|\$\$)/g;
const OPEN = /^ {0,3}(\\\[|\$\$)|^\\\(/;

/** Read a formula that is a block of its own at the start of a text. @param {string} text @returns {Formula | null} */
function readBlock(text) {
  for (const pattern of BLOCKS) {
    const found = pattern.exec(text);
    if (found?.[1].trim()) return {raw: found[0], tex: found[1].trim(), isDisplay: true};
  }
  return null;
}

/** Read a formula within a line at the start of a text. @param {string} text @returns {Formula | null} */
function readInLine(text) {
  for (const [pattern, isDisplay, isTex] of /** @type {[RegExp, boolean, (tex: string) => boolean][]} */ ([
    [PARENTHESES, false, () => true],
    [BRACKETS, true, (tex) => LOOKS_LIKE_TEX.test(tex)],
    [DOLLARS, true, (tex) => tex === tex.trim() || LOOKS_LIKE_TEX.test(tex)],
    [DOLLAR, false, (tex) => !AMOUNT.test(tex)],
  ])) {
    const found = pattern.exec(text);
    if (found?.[1].trim() && isTex(found[1])) return {raw: found[0], tex: found[1].trim(), isDisplay};
  }
  return null;
}

/** Return the index of the next line that starts a formula and ends the paragraph. @param {string} text */
function blockStart(text) {
  const end = text.indexOf('\n\n');
  const paragraph = end < 0 ? text : text.slice(0, end);
  for (const {index} of paragraph.matchAll(BLOCK_START)) if (readBlock(text.slice(index + 1))) return index + 1;
  return undefined;
}

/** Return the index where a formula may start, or up to which there is none. @param {string} text */
function inLineStart(text) {
  const index = text.slice(0, SEARCH_CHARS).search(START);
  if (index >= 0) return index;
  return text.length > SEARCH_CHARS ? SEARCH_CHARS : undefined;
}

/**
 * Extend `marked` by formulas.
 * @param {(formula: Formula & {isOpen: boolean}) => string} render  returns HTML
 * @param {(rest: string) => boolean} isCutHere  true if a text that is being written ends with this rest of it
 * @returns {import('marked').MarkedExtension}
 */
export function formulas(render, isCutHere) {
  /** @param {string} type @param {string} text @param {Formula | null} formula */
  const token = (type, text, formula) => {
    if (formula) return {type, ...formula, isOpen: false};
    const isOpen = OPEN.test(text) && text.length < LIMIT_CHARS && isCutHere(text);
    return isOpen ? {type, raw: text, tex: text, isDisplay: false, isOpen} : undefined;
  };
  return {
    extensions: [{
      name: 'formulaBlock',
      level: 'block',
      start: blockStart,
      tokenizer: (text) => (/^ {0,3}(?:\\\[|\$\$)/.test(text) ? token('formulaBlock', text, readBlock(text)) : undefined),
      renderer: (formula) => `<p>${render(/** @type {any} */ (formula))}</p>\n`,
    }, {
      name: 'formula',
      level: 'inline',
      start: inLineStart,
      tokenizer: (text) => (/^(?:\\[([]|\$)/.test(text) ? token('formula', text, readInLine(text)) : undefined),
      renderer: (formula) => render(/** @type {any} */ (formula)),
    }],
  };
}
