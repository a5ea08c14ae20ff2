import {LitElement, css, html, nothing} from 'lit';
import {repeat} from 'lit/directives/repeat.js';
import {Localized, formatDuration, formatTime, t} from '../base/i18n.js';
import {base, buttons, cards} from '../ui/styles.js';
import '../ui/ac-icon.js';
import './ac-run-state.js';

/** @typedef {import('./runs.js').Run} Run */

/**
 * Runs of a tool, newest first.
 * @fires ac-select {id: number}  Show this run.
 * @fires ac-use {id: number}     Copy its arguments into the form.
 * @fires ac-clear
 */
export class AcRunList extends Localized(LitElement) {
  static properties = {
    runs: {attribute: false},
    selected: {type: Number},
  };

  static styles = [base, buttons, cards, css`
    header { display: flex; align-items: center; justify-content: space-between; margin-bottom: var(--ac-space-2); }
    h2 { font-size: var(--ac-text-m); }
    .card { overflow: hidden; }
    li { display: flex; align-items: center; gap: var(--ac-space-1); padding-inline-end: var(--ac-space-2); border-bottom: 1px solid var(--ac-border); }
    li:last-child { border-bottom: 0; }
    li:hover { background: var(--ac-hover); }
    li.selected { background: var(--ac-accent-soft); }
    .row { display: grid; grid-template-columns: 6.5rem minmax(0, 1fr) auto auto; flex: 1; min-width: 0; justify-content: start; text-align: start; gap: var(--ac-space-3); padding: var(--ac-space-2) var(--ac-space-3); border: 0; border-radius: 0; background: none; box-shadow: none; font-weight: inherit; }
    .row:hover:not(:disabled) { background: none; }
    .row:focus-visible { outline-offset: -2px; }
    .args { font-family: var(--ac-font-mono); font-size: 0.75rem; line-height: 1.5; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    .time { color: var(--ac-text-muted); font-size: var(--ac-text-s); font-variant-numeric: tabular-nums; }
    @media (max-width: 40rem) { .row { grid-template-columns: auto minmax(0, 1fr) auto; } .row .when { display: none; } }
  `];

  constructor() {
    super();
    /** @type {Run[]} */
    this.runs = [];
    this.selected = 0;
  }

  render() {
    if (!this.runs.length) return nothing;
    return html`
      <header><h2>${t('tools.runsHeading')}</h2><button class="small quiet" @click=${() => this._fire('ac-clear', 0)}>${t('tools.clearRuns')}</button></header>
      <ol class="card">${repeat(this.runs, ({id}) => id, (run) => this._renderRun(run))}</ol>`;
  }

  /** @param {Run} run */
  _renderRun(run) {
    const isSelected = run.id === this.selected;
    return html`
      <li class=${isSelected ? 'selected' : ''}>
        <button class="row" aria-current=${isSelected ? 'true' : nothing} @click=${() => this._fire('ac-select', run.id)}>
          <ac-run-state .run=${run}></ac-run-state>
          <span class="args">${summary(run.shownArgs) || t('tools.noArguments')}</span>
          <span class="time">${run.durationMs === null ? '' : formatDuration(run.durationMs)}</span>
          <span class="time when">${formatTime(run.startedAt)}</span>
        </button>
        <button class="small icon quiet" title=${t('tools.useArguments')} aria-label=${t('tools.useArguments')} @click=${() => this._fire('ac-use', run.id)}><ac-icon name="pencil"></ac-icon></button>
      </li>`;
  }

  /** @param {string} name @param {number} id */
  _fire(name, id) {
    this.dispatchEvent(new CustomEvent(name, {detail: {id}, bubbles: true, composed: true}));
  }
}
customElements.define('ac-run-list', AcRunList);

/** Return the arguments on one line. @param {Record<string, any>} args */
function summary(args) {
  return Object.entries(args).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return `${name}=${text.length > 60 ? `${text.slice(0, 60)}…` : text}`;
  }).join('  ').replaceAll('\n', '⏎');
}
