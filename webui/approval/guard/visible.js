/** Text that a person decides on: every character that cannot be seen is written out, as the terminal does it too. */
import {html} from 'lit';

const HIDDEN = /(?![\n\t \u3000])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Zs}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\uffa0\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu;

/** Text with `<U+200B>` in place of what cannot be seen. Line feeds and tabs stay. @param {string} text */
export function visibleText(text) {
  return text.replace(HIDDEN, nameOf);
}

/** The same as a template, in which these names stand out. @param {string} text */
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

/** What stands on one line, as text and as a template: line feeds and tabs would make it look like more, and are written out. @param {string} text */
export function visibleLine(text) {
  const line = text.replace(/[\n\t]/g, (character) => nameOf(character));
  return {text: visibleText(line), parts: visible(line)};
}

/** @param {string} character */
function nameOf(character) {
  return `<U+${/** @type {number} */ (character.codePointAt(0)).toString(16).toUpperCase().padStart(4, '0')}>`;
}
