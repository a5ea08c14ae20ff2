import {LitElement, css, html} from 'lit';
import {Localized, hasText, t} from '../../webui/base/i18n.js';
import {Attention} from '../../webui/approval/guard/button-arming.js';
import {visible} from '../../webui/approval/guard/visible-text.js';
import {base, buttons} from '../../webui/ui/styles.js';
import '../../webui/ui/ac-icon.js';

/**
 * Asks whether a secret field may be filled. Only trusted clicks count, from half a second after the question became visible.
 * @fires ac-answer {isAllowed: boolean}
 */
export class AcQuestionCard extends Localized(LitElement) {
  static properties = {question: {attribute: false}};

  static styles = [base, buttons, css`
    .whole { display: grid; gap: var(--ac-space-4); }
    .text { display: grid; gap: var(--ac-space-2); overflow-wrap: anywhere; }
    .field { padding: var(--ac-space-2) var(--ac-space-3); border-inline-start: 3px solid var(--ac-warn); background: var(--ac-warn-soft); color: var(--ac-text); }
    .actions { display: flex; flex-wrap: wrap; gap: var(--ac-space-2); }
    .actions button { flex: 1 1 8rem; }
    button[aria-disabled="true"] { cursor: not-allowed; opacity: 0.6; }
  `];

  constructor() {
    super();
    /** @type {{kind: string, label: string, origin: string} | null} */
    this.question = null;
    this._attention = new Attention(this);
  }

  render() {
    if (!this.question) return html``;
    const {kind, label, origin} = this.question;
    const text = `panel.secret.${kind}`;
    return html`
      <div class="whole">
        <div class="text">
          <p>${t(hasText(text) ? text : 'panel.secret.other')}</p>
          <p class="field"><strong>${visible(label)}</strong><br>${visible(origin)}</p>
          <p class="muted">${t('panel.secretText')}</p>
        </div>
        <div class="actions" id="actions">
          <button class="no" aria-disabled=${!this._attention.isArmed} @click=${(/** @type {Event} */ event) => this._answer(event, false)}>${t('panel.secretNo')}</button>
          <button class="primary" aria-disabled=${!this._attention.isArmed} @click=${(/** @type {Event} */ event) => this._answer(event, true)}>${t('panel.secretYes')}</button>
        </div>
      </div>`;
  }

  updated() {
    this._attention.watch(this.renderRoot.querySelector('#actions'));
  }

  focus() {
    /** @type {HTMLElement | null} */ (this.renderRoot.querySelector('.no'))?.focus();
  }

  /** @param {Event} event @param {boolean} isAllowed */
  _answer(event, isAllowed) {
    if (event.isTrusted && this._attention.isArmed) this.dispatchEvent(new CustomEvent('ac-answer', {detail: {isAllowed}}));
  }
}
customElements.define('ac-question-card', AcQuestionCard);
