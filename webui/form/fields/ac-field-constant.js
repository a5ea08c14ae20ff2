import {css, html} from 'lit';
import {FieldElement} from './field-element.js';

/** Field for a constant; if it is optional, a checkbox includes it. */
export class AcFieldConstant extends FieldElement {
  static styles = [FieldElement.styles, css`
    .fixed { display: flex; align-items: center; gap: var(--ac-space-2); min-height: var(--ac-control); }
  `];

  get constant() {
    return this.shape.kind === 'null' ? null : this.schema.const;
  }

  render() {
    const text = html`<code>${JSON.stringify(this.constant)}</code>`;
    if (this.field.isRequired) return this.renderFrame(html`<output id="control" class="fixed">${text}</output>`);
    return this.renderFrame(html`
      <div class="fixed">
        <input id="control" type="checkbox" .checked=${this.value !== undefined} ?disabled=${this.isDisabled}
          aria-label=${this.spokenLabel} aria-describedby=${this.described} aria-invalid=${this.invalid} @change=${this._onChange}>${text}
      </div>`);
  }

  /** @param {Event} event */
  _onChange(event) {
    this.change(/** @type {HTMLInputElement} */ (event.target).checked ? this.constant : undefined);
  }
}
customElements.define('ac-field-constant', AcFieldConstant);
