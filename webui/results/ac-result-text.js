import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../base/i18n.js';
import {formsOf, jsonOf, languageOf, numberedLines} from './text-detection.js';
import {partsOf} from '../ui/content/unified-diff.js';
import {base, buttons} from '../ui/styles.js';
import '../ui/content/ac-code.js';
import '../ui/content/ac-diff.js';
import '../ui/content/ac-json-tree.js';
import '../ui/content/ac-markdown.js';
import './ac-result-data.js';

const LINE_CHARS = 240; // a short text on one line needs no frame

/**
 * One text of a result in its detected form; the user can choose another. `name`: the file that it may come from.
 */
export class AcResultText extends Localized(LitElement) {
  static properties = {
    text: {attribute: false},
    name: {},
    _chosen: {state: true},
    _wraps: {state: true},
  };

  static styles = [base, buttons, css`
    :host { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-1); min-width: 0; }
    .forms { display: flex; justify-content: flex-end; gap: var(--ac-space-1); }
    .forms .wrap { margin-inline-end: auto; }
    .forms button { color: var(--ac-text-muted); min-height: 1.5rem; font-size: var(--ac-text-xs); }
    .forms button[aria-pressed="true"] { color: var(--ac-text); background: var(--ac-hover); }
    .line { overflow-wrap: anywhere; white-space: pre-wrap; max-width: 100ch; }
    .parts { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-2); min-width: 0; }
    .tree { padding: var(--ac-space-3); border: 1px solid var(--ac-border); border-radius: var(--ac-radius-m); background: var(--ac-surface); }
  `];

  constructor() {
    super();
    this.text = '';
    this.name = '';
    /** @type {import('./text-detection.js').Form | null} */
    this._chosen = null;
    this._wraps = true;
    /** @type {import('./text-detection.js').Form[]} */
    this._forms = ['text'];
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (!changed.has('text')) return;
    this._forms = formsOf(this.text);
    this._chosen = null;
  }

  get _isLine() {
    return this._forms[0] === 'text' && this.text.length <= LINE_CHARS && !this.text.trimEnd().includes('\n');
  }

  render() {
    if (this._isLine) return html`<p class="line">${this.text}</p>`;
    const form = this._chosen ?? this._forms[0];
    return html`${this._renderForms(form)}${this._renderAs(form)}`;
  }

  /** @param {import('./text-detection.js').Form} form */
  _renderForms(form) {
    const button = (/** @type {import('./text-detection.js').Form} */ one) => html`
      <button class="small quiet" aria-pressed=${one === form} @click=${() => { this._chosen = one; }}>${t(`results.form.${one}`)}</button>`;
    const wrap = form === 'text' ? html`
      <button class="small quiet wrap" aria-pressed=${this._wraps} @click=${() => { this._wraps = !this._wraps; }}>${t('results.wrap')}</button>` : nothing;
    return html`<div class="forms" role="group" aria-label=${t('results.shownAs')}>${wrap}${this._forms.length > 1 ? this._forms.map(button) : nothing}</div>`;
  }

  /** @param {import('./text-detection.js').Form} form */
  _renderAs(form) {
    switch (form) {
      case 'diff': return html`<div class="parts">${partsOf(this.text).map((part) => (part.isDiff
        ? html`<ac-diff folds .text=${part.text}></ac-diff>` : html`<ac-result-text .text=${part.text.trim()}></ac-result-text>`))}</div>`;
      case 'table': return html`<ac-result-data only-table .value=${jsonOf(this.text)}></ac-result-data>`;
      case 'json': return html`<ac-json-tree class="tree" .value=${jsonOf(this.text)}></ac-json-tree>`;
      case 'markdown': return html`<ac-markdown .text=${this.text}></ac-markdown>`;
      case 'code': return this._renderNumbered();
      default: return html`<ac-code folds .text=${this.text} ?wraps=${this._wraps}></ac-code>`;
    }
  }

  _renderNumbered() {
    const {first, text} = numberedLines(this.text) ?? {first: 0, text: this.text};
    return html`<ac-code folds .text=${text} .first=${first} language=${languageOf(this.name)}></ac-code>`;
  }
}
customElements.define('ac-result-text', AcResultText);
