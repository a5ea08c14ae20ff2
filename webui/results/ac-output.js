import {LitElement, css, html} from 'lit';
import {Localized, t} from '../base/i18n.js';
import {base} from '../ui/styles.js';

const LINES = 200; // more than a user reads while it scrolls by
const CHARS = 20_000;

/**
 * The end of a command's output, updated while it runs. It follows the newest line until the user scrolls away, and renders
 * nothing while it is out of view.
 */
export class AcOutput extends Localized(LitElement) {
  static properties = {
    text: {attribute: false},
    isRunning: {type: Boolean, attribute: 'running'},
  };

  static styles = [base, css`
    :host { display: block; min-width: 0; }
    /* a column from below upwards keeps to its end by itself: to scroll it by script would lay out the page each time */
    .written { position: relative; display: flex; flex-direction: column-reverse; max-height: 12.5rem; overflow: auto; border: 1px solid var(--ac-border); border-radius: var(--ac-radius-m); background: var(--ac-surface-sunken); scrollbar-width: thin; }
    .written:focus-visible { outline-offset: -2px; }
    pre { flex: none; margin: 0; padding: var(--ac-space-2) var(--ac-space-3); font-family: var(--ac-font-mono); font-size: var(--ac-text-xs); line-height: 1.5; color: var(--ac-code-text); white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 4; }
  `];

  constructor() {
    super();
    this.text = '';
    this.isRunning = false;
    this._isSeen = false;
    this._sight = new IntersectionObserver((entries) => this._onSight(entries.at(-1)?.isIntersecting ?? false));
  }

  connectedCallback() {
    super.connectedCallback();
    this._sight.observe(this);
  }

  disconnectedCallback() {
    this._sight.disconnect();
    super.disconnectedCallback();
  }

  shouldUpdate() {
    return this._isSeen || !this.hasUpdated;
  }

  render() {
    return html`<div class="written" tabindex="0" role="group" aria-label=${t('results.output')} aria-busy=${this.isRunning}><pre>${endOf(this.text)}</pre></div>`;
  }

  /** @param {boolean} isSeen */
  _onSight(isSeen) {
    if (isSeen && !this._isSeen) this.requestUpdate();
    this._isSeen = isSeen;
  }
}
customElements.define('ac-output', AcOutput);

/** Return the last lines of a text. @param {string} text */
function endOf(text) {
  const end = text.slice(-CHARS).replace(/\n$/, '');
  const lines = end.split('\n');
  const isCut = lines.length > LINES || end.length < text.length - 1;
  return isCut ? `…\n${lines.slice(-LINES).join('\n')}` : end;
}
