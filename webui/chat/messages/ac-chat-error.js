import {LitElement, css, html, nothing} from 'lit';
import {abilities} from '../../client/abilities.js';
import {PAGE_TARGET, pageAddress} from '../../client/session.js';
import {Localized, hasText, t} from '../../base/i18n.js';
import {base, buttons, code} from '../../ui/styles.js';
import {detailsOf, reasonOf} from '../../models/provider-error.js';
import {isAboutModels} from '../../models/setup.js';
import '../../ui/ac-icon.js';
import '../../models/ac-model-picker.js';

/** Error types that are not shown as failures. */
const CALM = new Set(['cancelled', 'stopped']);

/**
 * The explanation of why an answer ended early or did not start, and what to do about it, such as choosing another model.
 * @fires ac-retry
 * @fires ac-write-calls
 * @fires ac-open-providers
 * @fires ac-use-model {model: string}
 */
export class AcChatError extends Localized(LitElement) {
  static properties = {
    error: {attribute: false},
    mayRetry: {type: Boolean, attribute: 'retry'},
    mayChoose: {type: Boolean, attribute: 'choose'},
  };

  static styles = [base, buttons, code, css`
    section { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: var(--ac-space-1) var(--ac-space-3); padding: var(--ac-space-3) var(--ac-space-4); border-radius: var(--ac-radius-l); border: 1px solid color-mix(in srgb, var(--ac-danger) 35%, transparent); background: color-mix(in srgb, var(--ac-danger-soft) 55%, var(--ac-surface)); }
    section > ac-icon { color: var(--ac-danger); margin-top: 0.125rem; }
    section > * { grid-column: 2; }
    section > ac-icon { grid-column: 1; }
    section.calm { border-color: var(--ac-border); background: var(--ac-surface-sunken); }
    section.calm > ac-icon { color: var(--ac-text-muted); }
    h3 { font-size: var(--ac-text-m); }
    .message { overflow-wrap: anywhere; white-space: pre-wrap; color: var(--ac-text-muted); font-size: var(--ac-text-s); }
    ac-model-picker { margin-top: var(--ac-space-2); padding: var(--ac-space-3); border: 1px solid var(--ac-border); border-radius: var(--ac-radius-m); background: var(--ac-surface); }
    details { font-size: var(--ac-text-s); }
    summary { width: fit-content; max-width: 100%; cursor: pointer; color: var(--ac-text-muted); border-radius: var(--ac-radius-s); }
    pre.code { margin-top: var(--ac-space-2); max-height: 16rem; }
    .actions { display: flex; flex-wrap: wrap; gap: var(--ac-space-2); margin-top: var(--ac-space-2); }
  `];

  constructor() {
    super();
    /** @type {import('../../client/client.js').ErrorObject} */
    this.error = {type: '', message: '', context: {}, retryable: false};
    this.mayRetry = false;
    /** True if a model can be chosen here; not once the chat has continued. */
    this.mayChoose = false;
  }

  render() {
    const {type, message, context} = this.error;
    const isCalm = CALM.has(type);
    const [reason, said] = [reasonOf(this.error), context?.said];
    const [heading, hint] = [`chat.error.${type}`, `chat.errorHint.${type}`];
    return html`
      <section class=${isCalm ? 'calm' : ''} role="alert">
        <ac-icon name=${isCalm ? 'circle-stop' : 'circle-alert'}></ac-icon>
        <h3>${t(hasText(heading) ? heading : 'chat.error.other')}</h3>
        ${reason || hasText(hint) ? html`<p>${reason || t(hint)}</p>` : nothing}
        ${isCalm || reason ? nothing : html`<p class="message">${said ? t('models.said', {words: said}) : message}</p>`}
        ${typeof context?.sent === 'string' ? this._renderFolded(t('chat.error.sent'), context.sent) : nothing}
        ${isCalm ? nothing : this._renderFolded(t('ui.details'), detailsOf(this.error))}
        ${isAboutModels(type) && this.mayChoose && abilities.setup ? html`<ac-model-picker></ac-model-picker>` : nothing}
        ${this._renderActions(type)}
      </section>`;
  }

  /** @param {string} summary @param {string} text */
  _renderFolded(summary, text) {
    return html`<details><summary>${summary}</summary><pre class="code wrap" tabindex="0">${text}</pre></details>`;
  }

  /** @param {string} type */
  _renderActions(type) {
    const needsSettings = type === 'invalid_settings' || (isAboutModels(type) && !(this.mayChoose && abilities.setup));
    if (!this.mayRetry && !needsSettings) return nothing;
    return html`
      <div class="actions">
        ${needsSettings ? this._renderSettings() : nothing}
        ${this.mayRetry && type === 'tools_not_supported' ? html`<button class="small primary" @click=${() => this._fire('ac-write-calls')}><ac-icon name="wrench"></ac-icon>${t('chat.writeCalls')}</button>` : nothing}
        ${this.mayRetry ? html`<button class="small" @click=${() => this._fire('ac-retry')}><ac-icon name="rotate-ccw"></ac-icon>${t('chat.retry')}</button>` : nothing}
      </div>`;
  }

  _renderSettings() {
    if (abilities.setup) return html`<button class="small" @click=${() => this._fire('ac-open-providers')}><ac-icon name="key"></ac-icon>${t('models.providers')}</button>`;
    return html`<a class="button small" href=${pageAddress('#/chats')} target=${PAGE_TARGET}><ac-icon name="external-link"></ac-icon>${t('models.inPage')}</a>`;
  }

  /** @param {string} name */
  _fire(name) {
    this.dispatchEvent(new CustomEvent(name, {bubbles: true, composed: true}));
  }
}
customElements.define('ac-chat-error', AcChatError);
