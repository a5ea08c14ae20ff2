import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../../base/i18n.js';
import {base} from '../../ui/styles.js';
import {visible} from '../guard/visible-text.js';

const INLINE_CHARS = 100;
/** Maximum number of lines that are numbered; a table row for each line of a longer text would be slow. */
const NUMBERED_LINES = 5000;

/** Arguments of a call in full: short ones beside their name, long ones line by line below it. */
export class AcApprovalArguments extends Localized(LitElement) {
  static properties = {
    entries: {attribute: false},
    schema: {attribute: false},
  };

  static styles = [base, css`
    dl { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-2); }
    dt { font-family: var(--ac-font-mono); font-size: var(--ac-text-s); color: var(--ac-text-muted); overflow-wrap: anywhere; }
    .inline { display: grid; grid-template-columns: minmax(5rem, auto) minmax(0, 1fr); gap: var(--ac-space-1) var(--ac-space-3); align-items: baseline; }
    .value, .block {
      font-family: var(--ac-font-mono); font-size: var(--ac-text-s); white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 4;
      color: var(--ac-code-text); unicode-bidi: isolate; direction: ltr;
    }
    .block { margin-top: var(--ac-space-1); background: var(--ac-surface-sunken); border: 1px solid var(--ac-border); border-radius: var(--ac-radius-m); padding: var(--ac-space-2) var(--ac-space-3); line-height: var(--ac-line); }
    table { border-collapse: collapse; width: 100%; }
    td { padding: 0; vertical-align: top; unicode-bidi: isolate; }
    .n { width: 1%; min-width: 2rem; padding-inline-end: var(--ac-space-3); text-align: end; color: var(--ac-text-muted); -webkit-user-select: none; user-select: none; white-space: nowrap; font-variant-numeric: tabular-nums; }
    mark { background: var(--ac-danger-soft); color: var(--ac-danger); font-weight: var(--ac-weight-bold); border-radius: var(--ac-radius-s); }
    .size { font-size: var(--ac-text-xs); color: var(--ac-text-muted); }
  `];

  constructor() {
    super();
    /** @type {[string, unknown][]} */
    this.entries = [];
    /** Schema of all arguments, for their descriptions. @type {any} */
    this.schema = null;
  }

  render() {
    return html`<dl>${this.entries.map(([key, value]) => this._entry(key, value))}</dl>`;
  }

  /** @param {string} key @param {unknown} value */
  _entry(key, value) {
    const about = this.schema?.properties?.[key]?.description ?? '';
    const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
    const name = html`<dt title=${about}>${visible(key)}</dt>`;
    if (text.length <= INLINE_CHARS && !text.includes('\n')) {
      return html`<div class="inline">${name}<dd class="value">${text === '' ? html`<span class="muted">${t('approval.emptyText')}</span>` : visible(text)}</dd></div>`;
    }
    const lines = text.split('\n');
    return html`
      <div>
        ${name}
        <dd><div class="block">${lines.length > 1 && lines.length <= NUMBERED_LINES ? numbered(lines) : visible(text)}</div>
          ${lines.length > 1 ? html`<span class="size">${t('approval.size', {lines: lines.length, n: [...text].length})}</span>` : nothing}</dd>
      </div>`;
  }
}

/** @param {string[]} lines */
function numbered(lines) {
  return html`<table role="presentation">${lines.map((line, at) => html`<tr><td class="n" aria-hidden="true">${at + 1}</td><td>${visible(line)}</td></tr>`)}</table>`;
}

customElements.define('ac-approval-arguments', AcApprovalArguments);
