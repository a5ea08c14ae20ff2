/** Common parts of host cards: styles, a fact with its name, a usage meter, and pending tools. */
import {css, html} from 'lit';
import {approvalOrigin} from '../approval/frame/pending-count.js';
import {t} from '../base/i18n.js';
import '../ui/ac-icon.js';

/** @param {string} name @param {unknown} value @param {string} [kind] */
export const fact = (name, value, kind = '') => html`<div class=${kind}><dt>${name}</dt><dd>${value}</dd></div>`;

/** @param {string} text */
export const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** Render the number of tools that the user has not seen yet; these are offered to no model. @param {number} n */
export function waitingTools(n) {
  const said = html`<ac-icon name="shield-alert"></ac-icon>${t('hosts.toolsWait', {n})}`;
  if (!approvalOrigin) return html`<span class="badge warn">${said}</span>`;
  return html`<a class="badge warn" href=${approvalOrigin} target="_blank" rel="noopener" title=${t('hosts.toolsWaitHint')}>${said}</a>`;
}

/** Share of its limit from which a resource is shown as scarce. */
const SCARCE = 0.85;

/** Render a usage meter, hidden from screen readers, because the text is beside it. @param {number} used @param {number} bound */
export const meterOf = (used, bound) => html`<meter aria-hidden="true" min="0" max=${bound} low=${bound * SCARCE} high=${bound} optimum="0" .value=${used}></meter>`;

export const meters = css`
  meter { display: block; width: 100%; max-width: 9.5rem; height: 0.25rem; margin-top: var(--ac-space-1); border: 0; border-radius: 999px; background: var(--ac-surface-sunken); appearance: none; overflow: hidden; }
  meter::-webkit-meter-inner-element { display: block; }
  meter::-webkit-meter-bar { height: 0.25rem; border: 0; border-radius: 999px; background: var(--ac-border); }
  meter::-webkit-meter-optimum-value { background: var(--ac-accent); border-radius: 999px; }
  meter::-webkit-meter-suboptimum-value { background: var(--ac-warn); border-radius: 999px; }
  meter::-moz-meter-bar { background: var(--ac-accent); }
  meter:-moz-meter-sub-optimum::-moz-meter-bar { background: var(--ac-warn); }
`;

export const hostCardStyles = css`
  .card { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-4); padding: var(--ac-space-4); }
  .head { display: flex; align-items: flex-start; gap: var(--ac-space-2) var(--ac-space-4); }
  .name { flex: 1; display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-1) var(--ac-space-3); min-height: 1.75rem; min-width: 0; }
  h3 { font-size: var(--ac-text-l); overflow-wrap: anywhere; min-width: 0; }
  dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr)); gap: var(--ac-space-3) var(--ac-space-4); }
  dt { color: var(--ac-text-muted); font-size: var(--ac-text-s); }
  dd { overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
  .wide { grid-column: span 3; }
  h4 { margin-bottom: var(--ac-space-1); color: var(--ac-text-muted); font-size: var(--ac-text-s); font-weight: normal; }
  .modules { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 14rem), 1fr)); align-items: start; gap: 0 var(--ac-space-4); }
  .modules li { display: flex; flex-wrap: wrap; align-items: center; gap: 0 var(--ac-space-2); min-height: 1.75rem; min-width: 0; overflow-wrap: anywhere; }
  @media (max-width: 40rem) { dl { grid-template-columns: repeat(2, minmax(0, 1fr)); } .wide { grid-column: 1 / -1; } }
`;
