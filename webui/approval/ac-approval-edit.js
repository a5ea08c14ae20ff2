import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../i18n.js';
import {base, fields} from '../styles.js';

/**
 * The arguments of a call as JSON that can be changed; what is wrong is said at once.
 * @fires ac-edited {value: Record<string, unknown> | null}  null: it is no JSON object
 */
export class AcApprovalEdit extends Localized(LitElement) {
  static properties = {value: {attribute: false}, error: {attribute: false}, _fault: {state: true}};

  static styles = [base, fields, css`
    :host { display: grid; gap: var(--ac-space-1); }
    textarea { width: 100%; min-height: 8rem; font-family: var(--ac-font-mono); font-size: var(--ac-text-s); tab-size: 2; direction: ltr; }
    ul { display: grid; gap: var(--ac-space-1); }
  `];

  constructor() {
    super();
    /** @type {Record<string, unknown>} */
    this.value = {};
    /** What the server says of it. @type {import('../client.js').ApiError | null} */
    this.error = null;
    this._fault = '';
  }

  render() {
    const errors = /** @type {{path: string, message: string}[]} */ (this.error?.context?.errors ?? []);
    return html`
      <label for="json">${t('approval.editLabel')}</label>
      <textarea id="json" spellcheck="false" rows="8" aria-invalid=${Boolean(this._fault || this.error)} aria-describedby="fault"
        .value=${JSON.stringify(this.value, null, 2)} @input=${this._onInput}></textarea>
      <div id="fault" class="field-error" role="alert">
        ${this._fault || this.error?.message || nothing}
        ${errors.length ? html`<ul>${errors.map(({path, message}) => html`<li><code>${path || '/'}</code> ${message}</li>`)}</ul>` : nothing}
      </div>`;
  }

  /** @param {Map<string, unknown>} changed */
  shouldUpdate(changed) {
    // what the person types stays: the value is only where they began
    return !(changed.size === 1 && changed.has('value') && this.hasUpdated);
  }

  firstUpdated() {
    this.renderRoot.querySelector('textarea')?.focus();
  }

  /** @param {InputEvent} event */
  _onInput(event) {
    const {value} = /** @type {HTMLTextAreaElement} */ (event.target);
    /** @type {Record<string, unknown> | null} */
    let read = null;
    try {
      const found = JSON.parse(value);
      const isObject = found !== null && typeof found === 'object' && !Array.isArray(found);
      this._fault = isObject ? '' : t('approval.notAnObject');
      read = isObject ? found : null;
    } catch (error) {
      this._fault = t('approval.notJson', {reason: /** @type {Error} */ (error).message});
    }
    this.dispatchEvent(new CustomEvent('ac-edited', {detail: {value: read}}));
  }
}

customElements.define('ac-approval-edit', AcApprovalEdit);
