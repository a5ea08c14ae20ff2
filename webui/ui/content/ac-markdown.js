import {LitElement, css, html} from 'lit';
import {codeColours} from './code-colours.js';
import {formulaStyles} from './formula-styles.js';
import {base, code, tables} from '../styles.js';

const LIMIT_CHARS = 300_000; // beyond this, rendering would block the page

/** Rendered Markdown; its source is shown until the renderer is loaded, and if the text is huge. */
export class AcMarkdown extends LitElement {
  static properties = {
    text: {attribute: false},
    _rendered: {state: true},
  };

  static styles = [base, code, tables, codeColours, formulaStyles, css`
    :host { overflow-wrap: anywhere; max-width: 75ch; }
    .source { white-space: pre-wrap; }
    :is(p, ul, ol, pre, blockquote, .table-frame, hr, details) { margin: 0 0 var(--ac-space-3); }
    :is(h1, h2, h3, h4, h5, h6) { margin: var(--ac-space-5) 0 var(--ac-space-2); }
    h1 { font-size: var(--ac-text-xl); }
    h2 { font-size: 1.125rem; }
    :is(h1, h2, h3, h4, h5, h6, p):first-child { margin-top: 0; }
    :last-child { margin-bottom: 0; }
    ul { list-style: disc; padding-inline-start: 1.5em; }
    ol { list-style: decimal; padding-inline-start: 1.75em; }
    :is(ul, ol) :is(ul, ol) { margin-bottom: 0; }
    blockquote { padding-inline-start: var(--ac-space-3); border-inline-start: 3px solid var(--ac-border); color: var(--ac-text-muted); }
    :not(pre) > code { padding: 0.1em 0.3em; border-radius: var(--ac-radius-s); background: var(--ac-surface-sunken); border: 1px solid var(--ac-border); }
    hr { border: 0; border-top: 1px solid var(--ac-border); }
    img { max-width: 100%; }
    td p { margin: 0; }
  `];

  constructor() {
    super();
    this.text = '';
    /** @type {{text: string, nodes: Node[]} | null} What was rendered, and from which text. */
    this._rendered = null;
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (changed.has('text') && this.text.length <= LIMIT_CHARS) void this._make(this.text);
  }

  render() {
    return this._rendered?.text === this.text ? html`<div>${this._rendered.nodes}</div>` : html`<div class="source">${this.text}</div>`;
  }

  /** @param {string} text */
  async _make(text) {
    const {markdown} = await import('./rich-text.js');
    if (text === this.text) this._rendered = {text, nodes: [...markdown(text).childNodes]};
  }
}
customElements.define('ac-markdown', AcMarkdown);
