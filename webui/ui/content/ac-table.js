import {LitElement, css, html, nothing} from 'lit';
import {Localized, formatNumber, t} from '../../base/i18n.js';
import {asTabs, cellText, sortedRows} from './table-data.js';
import {base, buttons, fields, tables} from '../styles.js';
import '../ac-copy.js';
import '../ac-icon.js';

const PAGE_ROWS = 100;
const FILTER_FROM = 12; // fewer rows need no filter

/** Rows as a table that can be sorted by a click on a column, filtered by a text, and copied for a spreadsheet. */
export class AcTable extends Localized(LitElement) {
  static properties = {
    table: {attribute: false},
    label: {},
    _sort: {state: true},
    _filter: {state: true},
    _shown: {state: true},
    _isWhole: {state: true},
  };

  static styles = [base, buttons, fields, tables, css`
    :host { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-2); min-width: 0; }
    .tools { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-2); font-size: var(--ac-text-s); }
    .tools input { min-height: 1.75rem; width: 14rem; }
    .tools .count { flex: 1; color: var(--ac-text-muted); font-variant-numeric: tabular-nums; }
    .table-frame { position: relative; max-height: min(60vh, 40rem); overflow: auto; background: var(--ac-surface); }
    table { width: auto; min-width: 100%; font-size: var(--ac-text-s); }
    thead th { position: sticky; top: 0; padding: 0; background: var(--ac-surface-sunken); z-index: 1; box-shadow: 0 1px var(--ac-border); border: 0; }
    thead button { width: 100%; min-height: 2rem; justify-content: flex-start; border: 0; border-radius: 0; background: none; box-shadow: none; font-size: var(--ac-text-s); color: var(--ac-text-muted); }
    thead button:focus-visible { outline-offset: -2px; }
    thead .number button { justify-content: flex-end; }
    th[aria-sort="ascending"] button, th[aria-sort="descending"] button { color: var(--ac-text); }
    td { font-family: var(--ac-font-mono); font-size: 0.75rem; padding-block: var(--ac-space-1); overflow-wrap: anywhere; }
    td > div { width: max-content; max-width: min(26rem, 60vw); display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; line-clamp: 3; overflow: hidden; white-space: pre-wrap; }
    .whole td > div { display: block; }
    td.number { text-align: end; white-space: nowrap; }
    tbody tr:hover { background: var(--ac-hover); }
  `];

  constructor() {
    super();
    /** @type {import('./table-data.js').Table} */
    this.table = {columns: [], rows: []};
    this.label = '';
    /** @type {{column: string, isDescending: boolean} | null} */
    this._sort = null;
    this._filter = '';
    this._shown = PAGE_ROWS;
    this._isWhole = false;
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (changed.has('table')) [this._sort, this._filter, this._shown] = [null, '', PAGE_ROWS];
    if (['table', '_sort', '_filter'].some((name) => changed.has(name))) this._rows = this._found();
  }

  /** Return the rows that match the filter, sorted. */
  _found() {
    const {columns, rows} = this.table;
    const wanted = this._filter.toLowerCase();
    const left = wanted ? rows.filter((row) => columns.some((column) => cellText(row[column]).toLowerCase().includes(wanted))) : rows;
    return this._sort ? sortedRows(left, this._sort.column, this._sort.isDescending) : left;
  }

  render() {
    const {columns, rows} = this.table;
    const found = this._rows ?? rows;
    const left = found.length - this._shown;
    return html`
      ${this._renderTools(rows.length, found.length)}
      <div class="table-frame ${this._isWhole ? 'whole' : ''}" tabindex="0" role="region" aria-label=${this.label || t('ui.table')}>
        <table>
          <thead><tr>${columns.map((column) => this._renderHead(column))}</tr></thead>
          <tbody>${found.slice(0, this._shown).map((row) => html`<tr>${columns.map((column) => cell(row[column]))}</tr>`)}</tbody>
        </table>
      </div>
      ${left > 0 ? html`<button class="small quiet" @click=${() => { this._shown += PAGE_ROWS; }}>${t('ui.showMore', {n: Math.min(left, PAGE_ROWS), left})}</button>` : nothing}`;
  }

  /** @param {number} all @param {number} found */
  _renderTools(all, found) {
    const count = found === all ? t('ui.rows', {n: all}) : t('ui.rowsFound', {n: found, all});
    return html`
      <div class="tools">
        <span class="count" role="status">${count}</span>
        ${all < FILTER_FROM ? nothing : html`<input type="search" placeholder=${t('ui.filterRows')} aria-label=${t('ui.filterRows')} .value=${this._filter}
          @input=${(/** @type {Event} */ event) => { this._filter = /** @type {HTMLInputElement} */ (event.target).value; }}>`}
        <button class="small quiet" aria-pressed=${this._isWhole} @click=${() => { this._isWhole = !this._isWhole; }}>${t(this._isWhole ? 'ui.cutCells' : 'ui.wholeCells')}</button>
        <ac-copy .value=${() => asTabs({columns: this.table.columns, rows: this._rows ?? []})} label=${t('ui.copyTable')}></ac-copy>
      </div>`;
  }

  /** @param {string} column */
  _renderHead(column) {
    const isSorted = this._sort?.column === column;
    const order = isSorted ? (this._sort?.isDescending ? 'descending' : 'ascending') : 'none';
    const icon = order === 'descending' ? 'chevron-down' : 'chevron-up';
    const isNumber = this.table.rows.every((row) => typeof (row[column] ?? 0) === 'number');
    return html`<th scope="col" class=${isNumber ? 'number' : ''} aria-sort=${order}><button @click=${() => this._sortBy(column)}>${column}${isSorted ? html`<ac-icon name=${icon}></ac-icon>` : nothing}</button></th>`;
  }

  /** Sort ascending, then descending, then in the original order. @param {string} column */
  _sortBy(column) {
    if (this._sort?.column !== column) this._sort = {column, isDescending: false};
    else this._sort = this._sort.isDescending ? null : {column, isDescending: true};
  }
}
customElements.define('ac-table', AcTable);

/** @param {unknown} value */
function cell(value) {
  if (typeof value === 'number') return html`<td class="number">${formatNumber(value, {maximumFractionDigits: 20, useGrouping: false})}</td>`;
  return html`<td><div>${cellText(value)}</div></td>`;
}
