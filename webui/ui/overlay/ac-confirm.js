import {LitElement, html} from 'lit';
import {Localized, t} from '../../base/i18n.js';
import {base, buttons} from '../styles.js';
import './ac-dialog.js';

/** A question with two answers; use `confirm()`.  @fires ac-answer boolean */
export class AcConfirm extends Localized(LitElement) {
  static properties = {
    heading: {},
    text: {},
    action: {},
    isDangerous: {attribute: false},
  };

  static styles = [base, buttons];

  constructor() {
    super();
    this.heading = '';
    this.text = '';
    this.action = '';
    this.isDangerous = false;
  }

  render() {
    return html`
      <ac-dialog open .heading=${this.heading} @ac-close=${() => this._answer(false)}>
        <p>${this.text}</p>
        <button slot="actions" autofocus @click=${() => this._answer(false)}>${t('ui.cancel')}</button>
        <button slot="actions" class="primary ${this.isDangerous ? 'danger' : ''}" @click=${() => this._answer(true)}>
          ${this.action}
        </button>
      </ac-dialog>`;
  }

  /** @param {boolean} answer */
  async _answer(answer) {
    // close first, which returns the focus to where it was
    const dialog = /** @type {import('./ac-dialog.js').AcDialog} */ (this.renderRoot.querySelector('ac-dialog'));
    dialog.open = false;
    await dialog.updateComplete;
    this.dispatchEvent(new CustomEvent('ac-answer', {detail: answer}));
  }
}

customElements.define('ac-confirm', AcConfirm);
