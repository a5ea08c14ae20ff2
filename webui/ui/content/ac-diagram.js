import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../../base/i18n.js';
import {Listening} from '../../base/subscriptions.js';
import {onLook, shownTheme} from '../../base/shown-theme.js';
import {base} from '../styles.js';

/** A diagram from the source of Mermaid, drawn in the theme of the page; the attribute `drawn` is set once it is visible. */
export class AcDiagram extends Localized(LitElement) {
  /** The attributes that come from the text. */
  static given = ['source'];

  static properties = {
    source: {},
    _drawing: {state: true},
    _error: {state: true},
  };

  static styles = [base, css`
    :host { display: block; min-width: 0; line-height: var(--ac-line); }
    .frame { overflow: auto; max-height: min(75vh, 44rem); padding: var(--ac-space-3); text-align: center; background: var(--ac-surface); scrollbar-width: thin; }
    /* as wide as there is room, but not too small to be read: then it scrolls */
    img { display: inline-block; width: max(min(var(--diagram-width), 100%), calc(var(--diagram-width) * 0.7)); height: auto; vertical-align: top; }
    p { padding: var(--ac-space-2) var(--ac-space-3); border-bottom: 1px solid var(--ac-border); color: var(--ac-danger); font-size: var(--ac-text-s); white-space: pre-wrap; overflow-wrap: anywhere; }
  `];

  constructor() {
    super();
    this.source = '';
    /** @type {import('./diagram-drawing.js').Drawing | null} */
    this._drawing = null;
    this._error = '';
    this._theme = shownTheme();
    new Listening(this, () => [onLook(() => {
      if (this._theme === shownTheme()) return;
      this._theme = shownTheme();
      void this._draw();
    })]);
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (changed.has('source')) void this._draw();
  }

  render() {
    if (this._error) return html`<p role="status">${t('ui.diagramFailed', {why: this._error})}</p>`;
    if (!this._drawing) return nothing;
    const {address, label, width, height} = this._drawing;
    const name = label || t('ui.diagram');
    return html`<div class="frame" tabindex="0" role="region" aria-label=${name}><img src=${address} alt=${name} width=${width} height=${height}></div>`;
  }

  updated() {
    // the page's policy forbids style attributes
    this.renderRoot.querySelector('img')?.style.setProperty('--diagram-width', `${this._drawing?.width}px`);
    this.toggleAttribute('drawn', this._drawing !== null && !this._error);
  }

  async _draw() {
    const {source, _theme: theme} = this;
    const isStale = () => source !== this.source || theme !== this._theme;
    try {
      const {draw} = await import('./diagram-drawing.js');
      const drawing = await draw(source, theme);
      if (isStale()) return;
      this._drawing = drawing;
      this._error = '';
    } catch (error) {
      if (!isStale()) this._error = error instanceof Error ? error.message : String(error);
    }
  }
}
customElements.define('ac-diagram', AcDiagram);
