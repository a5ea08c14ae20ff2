/** Text that a user decides on: every invisible character is written out, as in the terminal. */
import {html} from 'lit';

const HIDDEN = /(?![\n\t \u3000])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Zs}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\uffa0\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu;

/** Return the text with invisible characters replaced by names such as `<U+200B>`. Line feeds and tabs stay. @param {string} text */
export function visibleText(text) {
  return text.replace(HIDDEN, nameOf);
}

/** Return the same as a template in which these names are highlighted. @param {string} text */
export function visible(text) {
  /** @type {unknown[]} */
  const parts = [];
  let at = 0;
  for (const match of text.matchAll(HIDDEN)) {
    parts.push(text.slice(at, match.index), html`<mark>${nameOf(match[0])}</mark>`);
    at = match.index + match[0].length;
  }
  return [...parts, text.slice(at)];
}

/** Return a one-line text, as text and as a template; line feeds and tabs are written out, so that it cannot look like several lines. @param {string} text */
export function visibleLine(text) {
  const line = text.replace(/[\n\t]/g, (character) => nameOf(character));
  return {text: visibleText(line), parts: visible(line)};
}

/** @param {string} character */
function nameOf(character) {
  return `<U+${/** @type {number} */ (character.codePointAt(0)).toString(16).toUpperCase().padStart(4, '0')}>`;
}
