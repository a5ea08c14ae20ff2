import {LitElement, css, html} from 'lit';
import {base} from './styles.js';
import './ac-icon.js';

/**
 * Placeholder for an empty list or view, and what to do about it.
 * @slot - a sentence or two
 * @slot actions
 */
export class AcEmpty extends LitElement {
  static properties = {
    icon: {},
    heading: {},
    isWhole: {type: Boolean, attribute: 'whole'},
  };

  static styles = [base, css`
    :host { padding: var(--ac-space-7) var(--ac-space-4); text-align: center; }
    .sign {
      display: inline-grid; place-items: center; width: 3rem; height: 3rem; margin-bottom: var(--ac-space-4);
      border: 1px solid var(--ac-border); border-radius: var(--ac-radius-l); background: var(--ac-surface); color: var(--ac-text-muted);
    }
    .sign ac-icon { width: 1.375rem; height: 1.375rem; }
    h1, h2 { font-size: var(--ac-text-l); margin-bottom: var(--ac-space-2); }
    .text { max-width: 32rem; margin: 0 auto; color: var(--ac-text-muted); text-wrap: pretty; }
    .actions { display: flex; flex-wrap: wrap; justify-content: center; gap: var(--ac-space-2); }
    ::slotted([slot='actions']) { margin-top: var(--ac-space-4); }
  `];

  constructor() {
    super();
    this.icon = 'inbox';
    this.heading = '';
    /** True if nothing else is in the view, so that this is its main heading. */
    this.isWhole = false;
  }

  render() {
    return html`
      <span class="sign"><ac-icon name=${this.icon}></ac-icon></span>
      ${this.isWhole ? html`<h1>${this.heading}</h1>` : html`<h2>${this.heading}</h2>`}
      <div class="text"><slot></slot></div>
      <div class="actions"><slot name="actions"></slot></div>`;
  }
}

customElements.define('ac-empty', AcEmpty);
