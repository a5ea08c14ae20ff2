import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../base/i18n.js';
import {tableIn, tableOf} from '../ui/content/table-data.js';
import {base, buttons} from '../ui/styles.js';
import '../ui/content/ac-json-tree.js';
import '../ui/content/ac-table.js';

/** Structured data: a table with the remaining values beside it if it has that form, else a tree. */
export class AcResultData extends Localized(LitElement) {
  static properties = {
    value: {attribute: false},
    onlyTable: {type: Boolean, attribute: 'only-table'},
    _isTree: {state: true},
  };

  static styles = [base, buttons, css`
    :host { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-2); min-width: 0; }
    .forms { display: flex; justify-content: flex-end; gap: var(--ac-space-1); }
    .forms button { color: var(--ac-text-muted); min-height: 1.5rem; font-size: var(--ac-text-xs); }
    .forms button[aria-pressed="true"] { color: var(--ac-text); background: var(--ac-hover); }
    .tree { padding: var(--ac-space-3); border: 1px solid var(--ac-border); border-radius: var(--ac-radius-m); background: var(--ac-surface); }
    dl { display: flex; flex-wrap: wrap; gap: var(--ac-space-1) var(--ac-space-5); font-size: var(--ac-text-s); }
    dl > div { display: flex; gap: var(--ac-space-2); min-width: 0; }
    dt { color: var(--ac-text-muted); }
    dd { font-family: var(--ac-font-mono); overflow-wrap: anywhere; }
  `];

  constructor() {
    super();
    /** @type {any} */
    this.value = null;
    /** True if the switch between forms is elsewhere. */
    this.onlyTable = false;
    this._isTree = false;
  }

  render() {
    const table = tableOf(this.value);
    const inner = table ? null : tableIn(this.value);
    if (!table && !inner) return this._renderTree();
    return html`
      ${this.onlyTable ? nothing : html`<div class="forms" role="group" aria-label=${t('results.shownAs')}>${this._renderChoice('table', false)}${this._renderChoice('json', true)}</div>`}
      ${this._isTree ? this._renderTree() : html`
        ${inner ? facts(inner.rest) : nothing}
        <ac-table .table=${table ?? inner?.table} label=${inner?.name ?? ''}></ac-table>`}`;
  }

  /** @param {string} form @param {boolean} isTree */
  _renderChoice(form, isTree) {
    return html`<button class="small quiet" aria-pressed=${this._isTree === isTree} @click=${() => { this._isTree = isTree; }}>${t(`results.form.${form}`)}</button>`;
  }

  _renderTree() {
    return html`<ac-json-tree class="tree" .value=${this.value}></ac-json-tree>`;
  }
}
customElements.define('ac-result-data', AcResultData);

/** @param {Record<string, any>} rest */
function facts(rest) {
  const entries = Object.entries(rest);
  return entries.length ? html`<dl>${entries.map(([name, value]) => html`<div><dt>${name}</dt><dd>${String(value)}</dd></div>`)}</dl>` : nothing;
}
