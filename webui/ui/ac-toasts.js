import {LitElement, css, html, nothing} from 'lit';
import {repeat} from 'lit/directives/repeat.js';
import {Localized, t} from '../base/i18n.js';
import {Listening} from '../base/subscriptions.js';
import {base, buttons} from './styles.js';
import {toasts} from './toasts.js';
import './ac-icon.js';

const ICONS = {ok: 'circle-check', info: 'info', danger: 'circle-alert'};

/** The messages of `toast()`, in a separate strip at the edge of a view, which covers nothing. */
export class AcToasts extends Localized(LitElement) {
  static styles = [base, buttons, css`
    :host { position: relative; display: block; flex: none; max-height: 40vh; overflow: auto; }
    ul { display: grid; border-block: 1px solid var(--ac-border); }
    li + li { border-top: 1px solid var(--ac-border); }
    li {
      display: grid; grid-template-columns: auto minmax(0, 1fr) auto; gap: var(--ac-space-1) var(--ac-space-3); align-items: start;
      padding: var(--ac-space-1) var(--ac-space-3) var(--ac-space-1) var(--ac-space-4);
      background: var(--ac-surface-raised);
    }
    li > ac-icon { margin-top: 0.5rem; }
    .text { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 var(--ac-space-3); padding-block: var(--ac-space-1); min-width: 0; overflow-wrap: anywhere; }
    .detail { min-width: 0; color: var(--ac-text-muted); font-size: var(--ac-text-s); max-height: 8rem; overflow: auto; }
    .ok > ac-icon { color: var(--ac-ok); }
    .info > ac-icon { color: var(--ac-accent); }
    .danger { background: var(--ac-danger-soft); }
    .danger > ac-icon { color: var(--ac-danger); }
    @media (prefers-reduced-motion: no-preference) { li { animation: come var(--ac-motion) ease-out; } }
    @keyframes come { from { opacity: 0; } }
    @media (max-width: 48rem) { li { padding-inline: var(--ac-space-3) var(--ac-space-2); } }
  `];

  constructor() {
    super();
    new Listening(this, () => [toasts.subscribe(() => this.requestUpdate())]);
  }

  render() {
    const {shown} = toasts;
    return html`<div role="status" aria-label=${t('ui.messages')}>${shown.length ? html`<ul>${repeat(shown, ({id}) => id, (toast) => this._toast(toast))}</ul>` : nothing}</div>`;
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
        <div class="text"><span>${text}</span>${detail ? html`<p class="detail">${detail}</p>` : nothing}
          ${action ? html`<button class="small" @click=${act}>${action.label}</button>` : nothing}
        </div>
        <button class="quiet icon small" aria-label=${t('ui.close')} @click=${() => toasts.remove(id)}><ac-icon name="x"></ac-icon></button>
      </li>`;
  }
}

customElements.define('ac-toasts', AcToasts);
