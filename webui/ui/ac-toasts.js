import {LitElement, css, html, nothing} from 'lit';
import {repeat} from 'lit/directives/repeat.js';
import {Localized, t} from '../base/i18n.js';
import {Listening} from '../base/listening.js';
import {base, buttons} from './styles.js';
import {toasts} from './toasts.js';
import './ac-icon.js';

const ICONS = {ok: 'circle-check', info: 'info', danger: 'circle-alert'};

/** The messages of `toast()`, over the edge of the page: they come and go without moving anything. */
export class AcToasts extends Localized(LitElement) {
  static styles = [base, buttons, css`
    :host {
      position: fixed; inset: auto var(--ac-space-4) var(--ac-space-4) auto; z-index: 10;
      width: min(24rem, calc(100vw - 2 * var(--ac-space-4))); pointer-events: none;
    }
    ul { display: grid; gap: var(--ac-space-2); }
    li {
      display: grid; grid-template-columns: auto 1fr auto; gap: var(--ac-space-1) var(--ac-space-3); align-items: start;
      padding: var(--ac-space-2) var(--ac-space-2) var(--ac-space-2) var(--ac-space-3); pointer-events: auto;
      background: var(--ac-surface-raised); border: 1px solid var(--ac-border); border-radius: var(--ac-radius-m);
      box-shadow: var(--ac-shadow-m);
    }
    li > ac-icon { margin-top: 0.375rem; }
    .text { padding-block: var(--ac-space-1); min-width: 0; overflow-wrap: anywhere; }
    .text button { display: flex; margin-top: var(--ac-space-2); }
    .detail { color: var(--ac-text-muted); font-size: var(--ac-text-s); max-height: 8rem; overflow: auto; }
    .ok > ac-icon { color: var(--ac-ok); }
    .info > ac-icon { color: var(--ac-accent); }
    .danger { border-color: var(--ac-danger); }
    .danger > ac-icon { color: var(--ac-danger); }
    @media (prefers-reduced-motion: no-preference) { li { animation: come var(--ac-motion) ease-out; } }
    @keyframes come { from { opacity: 0; transform: translateY(0.5rem); } }
  `];

  constructor() {
    super();
    new Listening(this, () => [toasts.subscribe(() => this.requestUpdate())]);
  }

  render() {
    return html`
      <div role="status" aria-label=${t('ui.messages')}>
        <ul>${repeat(toasts.shown, ({id}) => id, (toast) => this._toast(toast))}</ul>
      </div>`;
  }

  /** @param {import('./toasts.js').Toast} toast */
  _toast({id, kind, text, detail, action}) {
    const act = () => {
      toasts.remove(id);
      action?.run();
    };
    return html`
      <li class=${kind}>
        <ac-icon name=${ICONS[kind]}></ac-icon>
        <div class="text">${text}${detail ? html`<p class="detail">${detail}</p>` : nothing}
          ${action ? html`<button class="small" @click=${act}>${action.label}</button>` : nothing}
        </div>
        <button class="quiet icon small" aria-label=${t('ui.close')} @click=${() => toasts.remove(id)}><ac-icon name="x"></ac-icon></button>
      </li>`;
  }
}

customElements.define('ac-toasts', AcToasts);
