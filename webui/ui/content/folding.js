/** Long texts show their beginning first; the rest comes when somebody wants it, in steps that a page can lay out at once. */
import {css, html} from 'lit';
import {formatNumber, t} from '../../base/i18n.js';

/** So many lines are shown at first. */
export const FOLDED_LINES = 30;
/** So many come with one press. */
export const MORE_LINES = 5000;
const SLACK_LINES = 10; // so few more are not worth a press

/** Whether lines are left out where so many are shown. @param {number} shown @param {number} all */
export const isFoldedAt = (shown, all) => all > shown + SLACK_LINES;

export const foldStyles = css`
  .more { display: flex; justify-content: center; width: 100%; margin-top: 0; border-radius: 0 0 var(--ac-radius-m) var(--ac-radius-m); border: 1px solid var(--ac-border); border-top: 0; background: var(--ac-surface-sunken); color: var(--ac-text-muted); font-size: var(--ac-text-s); box-shadow: none; }
  .more:hover { color: var(--ac-text); background: var(--ac-hover); }
`;

/** The button that shows the rest, or the next part of it. @param {number} shown @param {number} all @param {() => void} more */
export function showMore(shown, all, more) {
  const isAll = !isFoldedAt(shown + MORE_LINES, all);
  const label = isAll ? t('ui.showAllLines', {n: all}) : t('ui.showMoreLines', {n: MORE_LINES, all: formatNumber(all)});
  return html`<button class="more small" @click=${more}>${label}</button>`;
}
