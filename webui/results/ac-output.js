import {LitElement, css, html} from 'lit';
import {Localized, t} from '../base/i18n.js';
import {base} from '../ui/styles.js';

const LINES = 200; // more than anybody reads while it goes by
const CHARS = 20_000;

/** The end of what a command writes, growing while it runs: it follows the newest line until the reader scrolls away. */
export class AcOutput extends Localized(LitElement) {
  static properties = {text: {attribute: false}, isRunning: {type: Boolean, attribute: 'running'}};

  static styles = [base, css`
    :host { display: block; min-width: 0; }
    .frame { max-height: 12.5rem; overflow: auto; border: 1px solid var(--ac-border); border-radius: var(--ac-radius-m); background: var(--ac-surface-sunken); scrollbar-width: thin; }
    .frame:focus-visible { outline-offset: -2px; }
    pre { margin: 0; padding: var(--ac-space-2) var(--ac-space-3); font-family: var(--ac-font-mono); font-size: var(--ac-text-xs); line-height: 1.5; color: var(--ac-code-text); white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 4; }
  `];

  constructor() {
    super();
    this.text = '';
    this.isRunning = false;
    this._follows = true;
  }

  render() {
    return html`<div class="frame" tabindex="0" role="group" aria-label=${t('results.output')} aria-busy=${this.isRunning} @scroll=${this._onScroll}><pre>${endOf(this.text)}</pre></div>`;
  }

  updated() {
    const frame = /** @type {HTMLElement} */ (this.renderRoot.querySelector('.frame'));
    if (this._follows) frame.scrollTop = frame.scrollHeight;
  }

  /** @param {Event} event */
  _onScroll({currentTarget}) {
    const {scrollTop, scrollHeight, clientHeight} = /** @type {HTMLElement} */ (currentTarget);
    this._follows = scrollHeight - scrollTop - clientHeight < 8;
  }
}
customElements.define('ac-output', AcOutput);

/** The last lines. @param {string} text */
function endOf(text) {
  const end = text.slice(-CHARS).replace(/\n$/, '');
  const lines = end.split('\n');
  const isCut = lines.length > LINES || end.length < text.length - 1;
  return isCut ? `…\n${lines.slice(-LINES).join('\n')}` : end;
}
