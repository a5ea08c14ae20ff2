import {LitElement, css, html} from 'lit';
import {Localized, t} from '../../base/i18n.js';
import {base, buttons} from '../styles.js';
import '../ac-icon.js';

/**
 * A modal dialog, based on the native one, so that focus, Escape and the rest of the page behave.
 * @slot - content
 * @slot actions - buttons
 * @fires ac-close  the user closed it
 * @csspart dialog
 */
export class AcDialog extends Localized(LitElement) {
  static properties = {
    open: {type: Boolean},
    heading: {},
  };

  static styles = [base, buttons, css`
    dialog {
      width: min(30rem, calc(100vw - 2 * var(--ac-space-4))); max-height: calc(100dvh - 2 * var(--ac-space-5)); padding: 0;
      border: 1px solid var(--ac-border); border-radius: var(--ac-radius-l);
      background: var(--ac-surface-raised); color: var(--ac-text); box-shadow: var(--ac-shadow-l);
    }
    dialog::backdrop { background: var(--ac-scrim); }
    header {
      display: flex; align-items: center; gap: var(--ac-space-3);
      padding: var(--ac-space-4) var(--ac-space-4) 0 var(--ac-space-5);
    }
    h2 { flex: 1; font-size: var(--ac-text-l); }
    .content {
      padding: var(--ac-space-3) var(--ac-space-5) var(--ac-space-5); color: var(--ac-text-muted);
      overflow-wrap: anywhere;
    }
    footer {
      display: flex; flex-wrap: wrap; justify-content: flex-end; gap: var(--ac-space-2);
      padding: var(--ac-space-3) var(--ac-space-5); border-top: 1px solid var(--ac-border); background: var(--ac-surface);
    }
  `];

  constructor() {
    super();
    this.open = false;
    this.heading = '';
    /** Element that had the focus before. @type {HTMLElement | null} */
    this._before = null;
  }

  /** Close a dialog that is removed while it is open: the browser returns the focus only when it is closed. */
  disconnectedCallback() {
    super.disconnectedCallback();
    const dialog = this.renderRoot?.querySelector('dialog');
    if (!dialog?.open) return;
    dialog.close();
    if (document.activeElement === document.body) this._before?.focus();
  }

  render() {
    return html`
      <dialog part="dialog" aria-labelledby="heading" @cancel=${this._cancel} @click=${this._onClick}>
        <header>
          <h2 id="heading">${this.heading}</h2>
          <button class="quiet icon" aria-label=${t('ui.close')} @click=${this._close}><ac-icon name="x"></ac-icon></button>
        </header>
        <div class="content"><slot></slot></div>
        <footer ?hidden=${![...this.children].some(({slot}) => slot === 'actions')}><slot name="actions" @slotchange=${() => this.requestUpdate()}></slot></footer>
      </dialog>`;
  }

  updated() {
    const dialog = /** @type {HTMLDialogElement} */ (this.renderRoot.querySelector('dialog'));
    if (this.open && !dialog.open) this._show(dialog);
    else if (!this.open && dialog.open) dialog.close();
  }

  /** @param {HTMLDialogElement} dialog */
  _show(dialog) {
    this._before = focused();
    dialog.showModal();
  }

  /** @param {Event} event */
  _cancel(event) {
    event.preventDefault(); // the opener closes it
    this._close();
  }

  /** Close on a click beside the dialog, which hits the element itself. @param {Event} event */
  _onClick(event) {
    if (event.target === event.currentTarget) this._close();
  }

  _close() {
    this.dispatchEvent(new CustomEvent('ac-close'));
  }
}

/** Return the focused element, inside any shadow roots. */
function focused() {
  let element = document.activeElement;
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
  return /** @type {HTMLElement | null} */ (element);
}

customElements.define('ac-dialog', AcDialog);
