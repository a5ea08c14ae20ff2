import {LitElement, css, html, nothing} from 'lit';
import {visible} from '../approval/guard/visible-text.js';
import {Localized, t} from '../base/i18n.js';
import {base, buttons} from '../ui/styles.js';
import '../ui/ac-icon.js';

/** Time before the question can be confirmed, so that a click meant for the view does not confirm it. */
const EARLY_MS = 600;

/**
 * Request of a view to open a page or to send a message as the user, shown in full.
 * @fires ac-answer {isYes: boolean}
 */
export class AcViewQuestion extends Localized(LitElement) {
  static properties = {
    question: {attribute: false},
    tool: {},
    _isEarly: {state: true},
  };

  static styles = [base, buttons, css`
    section { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-3); padding: var(--ac-space-3); border-top: 1px solid var(--ac-border); background: var(--ac-warn-soft); }
    pre { margin: 0; padding: var(--ac-space-3); border-radius: var(--ac-radius-m); background: var(--ac-surface); font-size: var(--ac-text-s); white-space: pre-wrap; overflow-wrap: anywhere; max-height: min(20rem, 50vh); overflow: auto; }
    .hint { color: var(--ac-text-muted); font-size: var(--ac-text-s); overflow-wrap: anywhere; }
    .end { display: flex; flex-wrap: wrap; gap: var(--ac-space-2); }
  `];

  constructor() {
    super();
    /** @type {{kind: 'link' | 'message', text: string} | null} */
    this.question = null;
    this.tool = '';
    this._isEarly = true;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this._timer = undefined;
  }

  connectedCallback() {
    super.connectedCallback();
    this._isEarly = true;
    this._timer = setTimeout(() => { this._isEarly = false; }, EARLY_MS);
  }

  disconnectedCallback() {
    clearTimeout(this._timer);
    super.disconnectedCallback();
  }

  render() {
    if (!this.question) return nothing;
    const {kind, text} = this.question;
    const isLink = kind === 'link';
    return html`
      <section role="group" aria-label=${t(isLink ? 'views.asksLink' : 'views.asksMessage', {tool: this.tool})}>
        <p role="status">${t(isLink ? 'views.asksLink' : 'views.asksMessage', {tool: this.tool})}</p>
        <pre tabindex="0">${visible(text)}</pre>
        ${isLink ? html`<p class="hint">${t('views.opensAt', {host: new URL(text).host})}</p>` : nothing}
        <div class="end">
          <button class="primary" ?disabled=${this._isEarly} @click=${() => this._answer(true)}>${t(isLink ? 'views.open' : 'views.send')}</button>
          <button @click=${() => this._answer(false)}>${t('views.decline')}</button>
        </div>
      </section>`;
  }

  /** @param {boolean} isYes */
  _answer(isYes) {
    this.dispatchEvent(new CustomEvent('ac-answer', {detail: {isYes}}));
  }
}
customElements.define('ac-view-question', AcViewQuestion);
