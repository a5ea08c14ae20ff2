import {LitElement, css, html, nothing} from 'lit';
import {PAGE_TARGET, pageAddress} from '../client/session.js';
import {Localized, hasText, t} from '../base/i18n.js';
import {moduleHref} from '../base/hosted-name.js';
import {withCode} from '../form/fields/field-element.js';
import {base, badges, buttons} from '../ui/styles.js';
import '../ui/ac-icon.js';
import '../ui/content/ac-json-tree.js';

/** Context entries that are shown elsewhere or add nothing to the message. */
const KNOWN = new Set(['errors', 'parameters']);

/**
 * Error of a call, with advice.
 * @slot actions
 */
export class AcResultError extends Localized(LitElement) {
  static properties = {error: {attribute: false}};

  static styles = [base, badges, buttons, css`
    section { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: var(--ac-space-1) var(--ac-space-3); padding: var(--ac-space-4); border-radius: var(--ac-radius-m); border: 1px solid var(--ac-danger); background: var(--ac-danger-soft); }
    section > ac-icon { color: var(--ac-danger); width: 1.25rem; height: 1.25rem; }
    section.calm { border-color: var(--ac-border); background: var(--ac-surface-sunken); }
    section.calm > ac-icon { color: var(--ac-text-muted); }
    section > * { grid-column: 2; }
    section > ac-icon { grid-column: 1; }
    .type { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-2); }
    .type code { font-weight: var(--ac-weight-bold); }
    .message { overflow-wrap: anywhere; white-space: pre-wrap; max-width: 90ch; }
    .message code { padding: 0 0.2em; background: var(--ac-surface); border-radius: var(--ac-radius-s); }
    .advice { max-width: 75ch; }
    dl { display: grid; grid-template-columns: fit-content(12rem) minmax(0, 1fr); gap: var(--ac-space-1) var(--ac-space-3); margin-top: var(--ac-space-2); font-size: var(--ac-text-s); }
    dt { font-family: var(--ac-font-mono); color: var(--ac-text-muted); overflow-wrap: anywhere; }
    dd { font-family: var(--ac-font-mono); overflow-wrap: anywhere; white-space: pre-wrap; }
    .actions { display: flex; flex-wrap: wrap; gap: var(--ac-space-2); }
    ::slotted(*) { margin-top: var(--ac-space-2); }
  `];

  constructor() {
    super();
    /** @type {import('../client/client.js').ErrorObject} */
    this.error = {type: '', message: '', context: {}, retryable: false};
  }

  render() {
    const {type, message, context = {}, retryable} = this.error;
    if (type === 'approval_required') return this._renderWaiting();
    const entries = Object.entries(context).filter(([name]) => !KNOWN.has(name));
    return html`
      <section class=${type === 'cancelled' ? 'calm' : ''}>
        <ac-icon name=${type === 'cancelled' ? 'circle-stop' : 'circle-alert'}></ac-icon>
        <div class="type"><code>${type}</code>${retryable ? html`<span class="badge">${t('results.retryable')}</span>` : nothing}</div>
        <p class="message">${withCode(message)}</p>
        <p class="advice muted">${this._advice()}</p>
        ${entries.length ? html`<dl>${entries.map(([name, value]) => html`<dt>${name}</dt><dd>${contextValue(value)}</dd>`)}</dl>` : nothing}
        <div class="actions"><slot name="actions"></slot></div>
      </section>`;
  }

  /** Render what waits for the user, which is no error; its message is for programs. */
  _renderWaiting() {
    return html`
      <section class="calm">
        <ac-icon name="shield"></ac-icon>
        <p class="message">${t('ui.error.approval_required')}</p>
        <p class="advice muted">${this._advice()}</p>
        <div class="actions"><slot name="actions"></slot></div>
      </section>`;
  }

  _advice() {
    const {type, context = {}, retryable} = this.error;
    const own = `results.advice.${type}`;
    const text = hasText(own) ? t(own) : t(retryable ? 'results.adviceLater' : 'results.adviceChange');
    const module = typeof context.module === 'string' && type.startsWith('module_') ? context.module : '';
    return module ? html`${text} <a href=${pageAddress(moduleHref(module))} target=${PAGE_TARGET}>${t('results.toModule', {module})}</a>` : text;
  }
}
customElements.define('ac-result-error', AcResultError);

/** @param {any} value */
function contextValue(value) {
  if (value === null || typeof value !== 'object') return String(value);
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) return value.join(', ') || '[]';
  return html`<ac-json-tree .value=${value} depth="1"></ac-json-tree>`;
}
