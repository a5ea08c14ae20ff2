/** Directions of text: each block is laid out as its first letter is written. */

const LETTER = /\p{L}/u;
/** Letters of Hebrew, Arabic, Syriac, Thaana, N'Ko and their like: https://www.unicode.org/reports/tr9/#R and AL. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const BLOCKS = 'p, h1, h2, h3, h4, h5, h6, ul, ol, blockquote, table, td, th';

/** @param {string} text */
const directionOf = (text) => (RIGHT_TO_LEFT.test(LETTER.exec(text)?.[0] ?? '') ? 'rtl' : 'ltr');

/** Set the direction of each block of rendered Markdown, if some of it is written from right to left. @param {DocumentFragment} fragment */
export function setDirections(fragment) {
  if (!RIGHT_TO_LEFT.test(fragment.textContent ?? '')) return;
  for (const block of fragment.querySelectorAll(BLOCKS)) block.setAttribute('dir', directionOf(block.textContent ?? ''));
}
