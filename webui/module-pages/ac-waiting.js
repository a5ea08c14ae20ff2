import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../base/i18n.js';
import {base, buttons} from '../ui/styles.js';
import '../ui/ac-icon.js';

const ICONS = {approval: 'shield', turn: 'clock', connection: 'wifi-off'};

/**
 * Shows what is pending and that it continues by itself: an approval (with a button that shows it), the queue slot of what a call
 * acts on, or a lost connection. Empty if nothing is pending.
 * @slot  A more specific text about what is pending and what else the user can do.
 */
export class AcWaiting extends Localized(LitElement) {
  static properties = {for: {}};

  static styles = [base, buttons, css`
    :host { display: block; }
    p {
      display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-1) var(--ac-space-3); min-height: 2.75rem;
      padding: var(--ac-space-1) var(--ac-space-4); border-bottom: 1px solid var(--ac-border); background: var(--ac-warn-soft);
    }
    span { flex: 1 1 14rem; min-width: 0; }
    ac-icon { flex: none; color: var(--ac-warn); }
    @media (max-width: 40rem) { p { padding-inline: var(--ac-space-3); } }
  `];

  constructor() {
    super();
    /** @type {'' | 'approval' | 'turn' | 'connection'} */
    this.for = '';
  }

  render() {
    if (!this.for) return nothing;
    return html`
      <p role="status">
        <ac-icon name=${ICONS[this.for]}></ac-icon>
        <span><slot>${t(`module-pages.waits.${this.for}`)}</slot></span>
        ${this.for === 'approval' ? html`<button class="small" @click=${showApprovals}>${t('module-pages.show')}</button>` : nothing}
      </p>`;
  }
}

function showApprovals() {
  document.dispatchEvent(new CustomEvent('ac-show-approvals'));
}

customElements.define('ac-waiting', AcWaiting);
