import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../base/i18n.js';
import {base, buttons} from '../ui/styles.js';
import '../ui/ac-icon.js';

/**
 * Shows why a live view can be watched only: permission to act is needed, pending, refused or expired. Empty once it is granted.
 * @fires ac-ask-control  The user wants to act.
 */
export class AcLiveControl extends Localized(LitElement) {
  static properties = {
    control: {attribute: false},
    action: {},
  };

  static styles = [base, buttons, css`
    :host { display: block; }
    p {
      display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-1) var(--ac-space-3); min-height: 2.75rem;
      padding: var(--ac-space-1) var(--ac-space-4); border-bottom: 1px solid var(--ac-border); background: var(--ac-surface-sunken);
    }
    span { flex: 1 1 14rem; min-width: 0; }
    ac-icon { flex: none; color: var(--ac-text-muted); }
    .waiting, .refused, .expired { background: var(--ac-warn-soft); }
    :is(.waiting, .refused, .expired) ac-icon { color: var(--ac-warn); }
    @media (max-width: 40rem) { p { padding-inline: var(--ac-space-3); } }
  `];

  constructor() {
    super();
    /** @type {import('./live-control.js').LiveControl | null} */
    this.control = null;
    /** Label of the button for the first request; empty if the view has its own button. */
    this.action = '';
    /** @type {(() => void) | undefined} */
    this._end = undefined;
  }

  connectedCallback() {
    super.connectedCallback();
    if (this.control) this._follow();
  }

  disconnectedCallback() {
    this._end?.();
    super.disconnectedCallback();
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (changed.has('control')) this._follow();
  }

  render() {
    switch (this.control?.state) {
      case 'needed': return this.action ? this._line('needed', 'eye', 'module-pages.watching', this._button(this.action, this._ask)) : nothing;
      case 'waiting': return this._line('waiting', 'shield', 'module-pages.waiting', this._button(t('module-pages.show'), showApprovals));
      case 'refused': return this._line('refused', 'shield-alert', 'module-pages.refused', this._button(t('module-pages.again'), this._ask));
      case 'expired': return this._line('expired', 'shield-alert', 'module-pages.expired', this._button(t('module-pages.again'), this._ask));
      default: return nothing;
    }
  }

  /** @param {string} state @param {string} icon @param {string} text @param {unknown} button */
  _line(state, icon, text, button) {
    return html`<p class=${state} role="status"><ac-icon name=${icon}></ac-icon><span>${t(text)}</span>${button}</p>`;
  }

  /** @param {string} label @param {() => void} run */
  _button(label, run) {
    return html`<button class="small" @click=${run}>${label}</button>`;
  }

  _ask() {
    this.dispatchEvent(new CustomEvent('ac-ask-control', {bubbles: true, composed: true}));
  }

  _follow() {
    this._end?.();
    this._end = this.control?.subscribe(() => this.requestUpdate());
  }
}

function showApprovals() {
  document.dispatchEvent(new CustomEvent('ac-show-approvals'));
}

customElements.define('ac-live-control', AcLiveControl);
