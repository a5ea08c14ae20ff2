/** Folding of long texts: the beginning is shown first and the rest on request, in steps that a browser can lay out quickly. */
import {css, html} from 'lit';
import {formatNumber, t} from '../../base/i18n.js';

/** Number of lines shown at first. */
export const FOLDED_LINES = 30;
/** Number of lines added by one click. */
export const MORE_LINES = 5000;
const SLACK_LINES = 10; // this many more lines are not worth a click

/** Return true if lines are left out when this many are shown. @param {number} shown @param {number} all */
export const isFoldedAt = (shown, all) => all > shown + SLACK_LINES;

export const foldStyles = css`
  .more { display: flex; justify-content: center; width: 100%; margin-top: 0; border-radius: 0 0 var(--ac-radius-m) var(--ac-radius-m); border: 1px solid var(--ac-border); border-top: 0; background: var(--ac-surface-sunken); color: var(--ac-text-muted); font-size: var(--ac-text-s); box-shadow: none; }
  .more:hover { color: var(--ac-text); background: var(--ac-hover); }
`;

/** Render the button that shows the rest, or the next part of it. @param {number} shown @param {number} all @param {() => void} more */
export function showMore(shown, all, more) {
  const isAll = !isFoldedAt(shown + MORE_LINES, all);
  const label = isAll ? t('ui.showAllLines', {n: all}) : t('ui.showMoreLines', {n: MORE_LINES, all: formatNumber(all)});
  return html`<button class="more small" @click=${more}>${label}</button>`;
}
