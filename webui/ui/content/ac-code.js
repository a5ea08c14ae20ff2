import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../../base/i18n.js';
import {codeColours} from './code-colours.js';
import {base, buttons, code} from '../styles.js';
import '../ac-copy.js';

/**
 * Text in a fixed font: with the numbers of its lines when `first` is given, in colours when the language is known.
 * A long text scrolls in its own frame.
 */
export class AcCode extends Localized(LitElement) {
  static properties = {
    text: {attribute: false}, language: {}, first: {type: Number}, label: {}, wraps: {type: Boolean}, _coloured: {state: true},
  };

  static styles = [base, buttons, code, codeColours, css`
    :host { position: relative; min-width: 0; }
    .frame { display: flex; overflow: auto; max-height: min(60vh, 40rem); background: var(--ac-surface-sunken); border: 1px solid var(--ac-border); border-radius: var(--ac-radius-m); }
    pre { font-size: var(--ac-text-s); line-height: var(--ac-line); color: var(--ac-code-text); padding: var(--ac-space-3); tab-size: 4; flex: 1; min-width: 0; }
    .frame:not(.wraps) pre { min-width: max-content; }
    .wraps pre { white-space: pre-wrap; overflow-wrap: anywhere; }
    pre.numbers { flex: none; position: sticky; left: 0; min-width: 0; padding-inline-end: var(--ac-space-3); text-align: end; color: var(--ac-text-muted); background: var(--ac-surface-sunken); border-inline-end: 1px solid var(--ac-border); user-select: none; }
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
    /** @type {{text: string, language: string, nodes: Node[] | string} | null} */
    this._coloured = null;
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if ((changed.has('text') || changed.has('language')) && this.language) void this._colour(this.text, this.language);
  }

  render() {
    const isColoured = this._coloured?.text === this.text && this._coloured.language === this.language;
    const numbers = this.first && !this.wraps ? html`<pre class="numbers" aria-hidden="true">${this._numbers()}</pre>` : nothing;
    return html`
      <div class="frame ${this.wraps ? 'wraps' : ''}" tabindex="0" role="region" aria-label=${this.label || t('ui.text')}>
        ${numbers}<pre>${isColoured ? this._coloured?.nodes : this.text}</pre>
      </div>
      <ac-copy .value=${this.text}></ac-copy>`;
  }

  _numbers() {
    const count = this.text.replace(/\n$/, '').split('\n').length;
    return Array.from({length: count}, (_, index) => this.first + index).join('\n');
  }

  /** @param {string} text @param {string} language */
  async _colour(text, language) {
    const {highlighted} = await import('./rich-text.js');
    if (text !== this.text || language !== this.language) return;
    const made = highlighted(text, language);
    this._coloured = {text, language, nodes: typeof made === 'string' ? made : [...made.childNodes]};
  }
}
customElements.define('ac-code', AcCode);
