import {LitElement, css, html, nothing} from 'lit';
import {Localized, hasText, t} from '../base/i18n.js';
import {base, buttons, code} from './styles.js';
import './ac-copy.js';
import './ac-icon.js';

/**
 * An error, shown where it occurred: the reason, and the details for debugging.
 * @slot actions - such as a button to try again
 * @slot hint - what to do
 */
export class AcErrorCard extends Localized(LitElement) {
  static properties = {
    heading: {},
    error: {attribute: false},
    details: {attribute: false},
    detailsLabel: {attribute: false},
    isOpen: {type: Boolean, attribute: 'details-open'},
  };

  static styles = [base, buttons, code, css`
    section {
      display: grid; grid-template-columns: auto 1fr; gap: var(--ac-space-2) var(--ac-space-3); padding: var(--ac-space-4);
      background: color-mix(in srgb, var(--ac-danger-soft) 55%, var(--ac-surface));
      border: 1px solid color-mix(in srgb, var(--ac-danger) 35%, transparent); border-radius: var(--ac-radius-l);
    }
    section > ac-icon { color: var(--ac-danger); margin-top: 0.125rem; width: 1.25rem; height: 1.25rem; }
    .content { min-width: 0; display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-2); }
    h2 { font-size: var(--ac-text-m); }
    .message { overflow-wrap: anywhere; }
    .type { color: var(--ac-danger); }
    summary { cursor: pointer; width: fit-content; border-radius: var(--ac-radius-s); font-weight: var(--ac-weight-medium); }
    details[open] summary { margin-bottom: var(--ac-space-2); }
    details, .details { min-width: 0; }
    .details { position: relative; }
    .details ac-copy { position: absolute; inset: var(--ac-space-1) var(--ac-space-1) auto auto; }
    pre.code { max-height: 24rem; background: var(--ac-surface); padding-inline-end: var(--ac-space-7); }
    .actions { display: flex; flex-wrap: wrap; gap: var(--ac-space-2); }
    ::slotted([slot='hint']) { color: var(--ac-text-muted); }
  `];

  constructor() {
    super();
    this.heading = '';
    /** @type {any} an Error, an ApiError, an error object, or a text */
    this.error = null;
    /** @type {string} such as a traceback */
    this.details = '';
    /** What the details are, if they are not of the server's own code. */
    this.detailsLabel = '';
    this.isOpen = false;
  }

  render() {
    const {type, message} = described(this.error);
    return html`
      <section role="alert">
        <ac-icon name="circle-alert"></ac-icon>
        <div class="content">
          ${this.heading ? html`<h2>${this.heading}</h2>` : nothing}
          <p class="message">${message} ${type ? html`<code class="type">${type}</code>` : nothing}</p>
          <slot name="hint"></slot>
          ${this.details ? this._details() : nothing}
          <div class="actions"><slot name="actions"></slot></div>
        </div>
      </section>`;
  }

  _details() {
    const label = this.detailsLabel || t('ui.details');
    return html`
      <details ?open=${this.isOpen} @toggle=${showEnd}>
        <summary>${label}</summary>
        <div class="details">
          <pre class="code" tabindex="0" role="region" aria-label=${label}>${this.details}</pre>
          <ac-copy .value=${this.details}></ac-copy>
        </div>
      </details>`;
  }
}

/** Scroll to the end, where a traceback names the error. @param {Event} event */
function showEnd(event) {
  const pre = /** @type {HTMLElement} */ (event.target).querySelector('pre');
  if (pre) pre.scrollTop = pre.scrollHeight;
}

/** Return the type and message to show for an error; the page's own errors are translated. @param {any} error @returns {{type: string, message: string}} */
function described(error) {
  if (error === null || typeof error !== 'object') return {type: '', message: String(error ?? '')};
  const type = error.type ?? (error.name === 'Error' ? '' : error.name ?? '');
  const own = `ui.error.${type}`;
  // what waits for the user is no error, so its type says nothing more
  return {type: type === 'approval_required' ? '' : type, message: hasText(own) ? t(own) : error.message ?? String(error)};
}

customElements.define('ac-error-card', AcErrorCard);
