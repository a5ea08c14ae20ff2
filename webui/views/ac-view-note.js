import {LitElement, css, html} from 'lit';
import {visible, visibleText} from '../approval/guard/visible-text.js';
import {Localized, t} from '../base/i18n.js';
import {base, buttons} from '../ui/styles.js';

/**
 * Context that a view offers to the model. It is only inserted into the user's message, where the user sees it again.
 * @fires ac-insert {text: string}
 */
export class AcViewNote extends Localized(LitElement) {
  static properties = {
    text: {},
    tool: {},
  };

  static styles = [base, buttons, css`
    details { border-top: 1px solid var(--ac-border); font-size: var(--ac-text-s); }
    summary { padding: var(--ac-space-2) var(--ac-space-3); color: var(--ac-text-muted); cursor: pointer; overflow-wrap: anywhere; }
    summary:focus-visible { outline-offset: -2px; }
    .shown { display: grid; grid-template-columns: minmax(0, 1fr); justify-items: start; gap: var(--ac-space-2); padding: 0 var(--ac-space-3) var(--ac-space-3); }
    pre { box-sizing: border-box; width: 100%; margin: 0; padding: var(--ac-space-3); border-radius: var(--ac-radius-m); background: var(--ac-surface-sunken); white-space: pre-wrap; overflow-wrap: anywhere; max-height: min(20rem, 50vh); overflow: auto; }
  `];

  constructor() {
    super();
    this.text = '';
    this.tool = '';
  }

  render() {
    return html`
      <details>
        <summary>${t('views.note', {tool: this.tool})}</summary>
        <div class="shown">
          <pre tabindex="0">${visible(this.text)}</pre>
          <button class="small" @click=${this._insert}>${t('views.putNote')}</button>
        </div>
      </details>`;
  }

  _insert() {
    // invisible characters are written out, so that the model receives what the user sees
    const quoted = visibleText(this.text).split('\n').map((line) => `> ${line}`).join('\n');
    this.dispatchEvent(new CustomEvent('ac-insert', {detail: {text: `${t('views.noteFrom', {tool: this.tool})}\n${quoted}\n\n`}, bubbles: true, composed: true}));
  }
}
customElements.define('ac-view-note', AcViewNote);
