import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../base/i18n.js';
import {base, buttons, fields} from '../ui/styles.js';
import '../ui/ac-icon.js';

/**
 * What a tool asks the person, with the answers that it offers and room for another one.
 * @fires ac-answer {questionId: string, text: string}
 */
export class AcChatQuestion extends Localized(LitElement) {
  static properties = {question: {attribute: false}, _isSent: {state: true}};

  static styles = [base, buttons, fields, css`
    section { display: grid; gap: var(--ac-space-3); padding: var(--ac-space-4); border: 1px solid var(--ac-accent); border-radius: var(--ac-radius-l); background: var(--ac-surface); }
    p { display: flex; gap: var(--ac-space-2); font-weight: var(--ac-weight-medium); white-space: pre-wrap; overflow-wrap: anywhere; }
    p ac-icon { color: var(--ac-accent); margin-top: 0.15rem; }
    .options { display: flex; flex-wrap: wrap; gap: var(--ac-space-2); }
    .options button { white-space: normal; line-height: var(--ac-line-tight); padding-block: var(--ac-space-1); text-align: start; }
    form { display: flex; gap: var(--ac-space-2); }
    input { flex: 1; min-width: 0; }
  `];

  constructor() {
    super();
    /** @type {import('./conversation/conversation.js').Question | null} */
    this.question = null;
    this._isSent = false;
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (changed.has('question')) this._isSent = false;
  }

  render() {
    if (!this.question) return nothing;
    const {text, options} = this.question;
    return html`
      <section aria-label=${t('chat.question')}>
        <p role="status"><ac-icon name="message-square"></ac-icon>${text}</p>
        ${options.length ? html`<div class="options">${options.map((option) => html`<button ?disabled=${this._isSent} @click=${() => this._answer(option)}>${option}</button>`)}</div>` : nothing}
        <form @submit=${this._onSubmit}>
          <input aria-label=${t('chat.yourAnswer')} placeholder=${t(options.length ? 'chat.otherAnswer' : 'chat.yourAnswer')} ?disabled=${this._isSent}>
          <button class=${options.length ? '' : 'primary'} ?disabled=${this._isSent}>${t('chat.answer')}</button>
        </form>
      </section>`;
  }

  /** @param {Event} event */
  _onSubmit(event) {
    event.preventDefault();
    const text = /** @type {HTMLInputElement} */ (this.renderRoot.querySelector('input')).value.trim();
    if (text) this._answer(text);
  }

  /** @param {string} text */
  _answer(text) {
    this._isSent = true;
    const failed = () => { this._isSent = false; };
    this.dispatchEvent(new CustomEvent('ac-answer', {detail: {questionId: this.question?.questionId, text, failed}, bubbles: true, composed: true}));
  }
}
customElements.define('ac-chat-question', AcChatQuestion);
