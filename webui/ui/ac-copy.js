import {LitElement, html} from 'lit';
import {Localized, t} from '../base/i18n.js';
import {base, buttons} from './styles.js';
import {toastError} from './toasts.js';
import './ac-icon.js';

const SHOWN_MS = 2000;

/** Button that copies a text and confirms it. `label`: its accessible name; with `labelled`, the name is shown. */
export class AcCopy extends Localized(LitElement) {
  static properties = {
    value: {attribute: false},
    label: {},
    isLabelled: {type: Boolean, attribute: 'labelled'},
    _isCopied: {state: true},
  };
  static styles = [base, buttons];

  constructor() {
    super();
    /** @type {string | (() => string)} */
    this.value = '';
    this.label = '';
    this.isLabelled = false;
    this._isCopied = false;
  }

  render() {
    const name = this._isCopied ? t('ui.copied') : this.label || t('ui.copy');
    return html`
      <button class="quiet small ${this.isLabelled ? '' : 'icon'}" aria-label=${name} title=${name} @click=${this._copy}>
        <ac-icon name=${this._isCopied ? 'check' : 'copy'}></ac-icon>${this.isLabelled ? name : ''}
      </button>
      <span class="visually-hidden" role="status">${this._isCopied ? t('ui.copied') : ''}</span>`;
  }

  async _copy() {
    try {
      await navigator.clipboard.writeText(typeof this.value === 'function' ? this.value() : this.value);
    } catch (error) {
      return toastError(t('ui.notCopied'), error);
    }
    this._isCopied = true;
    setTimeout(() => { this._isCopied = false; }, SHOWN_MS);
  }
}

customElements.define('ac-copy', AcCopy);
