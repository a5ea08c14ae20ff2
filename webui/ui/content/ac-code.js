import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../../base/i18n.js';
import {codeColours} from './code-colours.js';
import {base, buttons, code} from '../styles.js';
import {FOLDED_LINES, MORE_LINES, foldStyles, isFoldedAt, showMore} from './folding.js';
import '../ac-copy.js';

/**
 * Text in a fixed-width font: with line numbers if `first` is given, highlighted if the language is known. A long text scrolls
 * in its own frame; with `folds`, only its beginning is shown at first. The copy button always copies the whole text.
 */
export class AcCode extends Localized(LitElement) {
  static properties = {
    text: {attribute: false},
    language: {},
    first: {type: Number},
    label: {},
    wraps: {type: Boolean},
    folds: {type: Boolean},
    _coloured: {state: true},
    _shown: {state: true},
  };

  static styles = [base, buttons, code, codeColours, foldStyles, css`
    :host { position: relative; min-width: 0; }
    .frame { display: flex; overflow: auto; max-height: min(60vh, 40rem); background: var(--ac-surface-sunken); border: 1px solid var(--ac-border); border-radius: var(--ac-radius-m); }
    pre { font-size: var(--ac-text-s); line-height: var(--ac-line); color: var(--ac-code-text); padding: var(--ac-space-3); tab-size: 4; flex: 1; min-width: 0; }
    .frame:not(.wraps) pre { min-width: max-content; }
    .wraps pre { white-space: pre-wrap; overflow-wrap: anywhere; }
    pre.numbers { flex: none; position: sticky; left: 0; min-width: 0; padding-inline-end: var(--ac-space-3); text-align: end; color: var(--ac-text-muted); background: var(--ac-surface-sunken); border-inline-end: 1px solid var(--ac-border); -webkit-user-select: none; user-select: none; }
    ac-copy { position: absolute; top: var(--ac-space-1); right: var(--ac-space-1); background: var(--ac-surface-sunken); border-radius: var(--ac-radius-m); }
    @media (hover: hover) { :host(:not(:hover, :focus-within)) ac-copy { opacity: 0; } }
  `];

  constructor() {
    super();
    this.text = '';
    this.language = '';
    this.first = 0;
    this.label = '';
    this.wraps = false;
    this.folds = false;
    this._shown = FOLDED_LINES;
    /** @type {{text: string, language: string, nodes: Node[] | string} | null} */
    this._coloured = null;
    this._lines = 0;
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (changed.has('text') && changed.get('text') !== undefined) this._shown = FOLDED_LINES;
    if (changed.has('text') || changed.has('folds')) this._lines = this.folds ? lineCount(this.text) : 0;
    if (this.language) void this._colour(this._part, this.language);
  }

  get _isFolded() {
    return this.folds && isFoldedAt(this._shown, this._lines);
  }

  /** The part of the text that is shown. */
  get _part() {
    return this._isFolded ? this.text.split('\n', this._shown).join('\n') : this.text;
  }

  render() {
    const part = this._part;
    const isColoured = this._coloured?.text === part && this._coloured.language === this.language;
    const numbers = this.first && !this.wraps ? html`<pre class="numbers" aria-hidden="true">${this._numbers(part)}</pre>` : nothing;
    return html`
      <div class="frame ${this.wraps ? 'wraps' : ''}" tabindex="0" role="region" aria-label=${this.label || t('ui.text')}>
        ${numbers}<pre>${isColoured ? this._coloured?.nodes : part}</pre>
      </div>
      ${this._isFolded ? showMore(this._shown, this._lines, () => { this._shown += MORE_LINES; }) : nothing}
      <ac-copy .value=${this.text}></ac-copy>`;
  }

  /** @param {string} part */
  _numbers(part) {
    const count = lineCount(part);
    return Array.from({length: count}, (_, index) => this.first + index).join('\n');
  }

  /** @param {string} text @param {string} language */
  async _colour(text, language) {
    if (this._coloured?.text === text && this._coloured.language === language) return;
    const {highlighted} = await import('./rich-text.js');
    if (text !== this._part || language !== this.language) return;
    const made = highlighted(text, language);
    this._coloured = {text, language, nodes: typeof made === 'string' ? made : [...made.childNodes]};
  }
}
customElements.define('ac-code', AcCode);

/** @param {string} text */
const lineCount = (text) => text.replace(/\n$/, '').split('\n').length;
