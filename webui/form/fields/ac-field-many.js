import {css, html} from 'lit';
import {live} from 'lit/directives/live.js';
import {FieldElement} from './field-element.js';

/** Field for any subset of a fixed set of values. */
export class AcFieldMany extends FieldElement {
  static styles = [FieldElement.styles, css`
    fieldset { border: 0; margin: 0; padding: 0; min-width: 0; }
    legend { padding: 0; margin-bottom: var(--ac-space-1); }
    .choices { display: flex; flex-wrap: wrap; gap: var(--ac-space-1) var(--ac-space-4); }
    .choices label { display: inline-flex; align-items: center; gap: var(--ac-space-2); min-height: 1.75rem; font-weight: inherit; }
    .choices input { margin: 0; }
  `];

  render() {
    const chosen = this.value ?? [];
    const box = (/** @type {any} */ choice, /** @type {number} */ at) => html`
      <label><input type="checkbox" .checked=${live(chosen.includes(choice))} ?disabled=${this.isDisabled}
        @change=${() => this._toggle(choice)}>${this.shape.titles[at]}</label>`;
    return html`
      <fieldset class="frame" part="frame" aria-describedby=${this.described}>
        <legend class=${this.field.isBare ? 'visually-hidden' : 'head'}><span class="label">${this.field.label}</span>${this.renderMust()}</legend>
        ${this.renderDescription()}
        <div class="choices">${this.shape.choices.map(box)}</div>
        ${this.renderNotes()}
      </fieldset>`;
  }

  /** @param {any} choice */
  _toggle(choice) {
    const chosen = new Set(this.value ?? []);
    if (!chosen.delete(choice)) chosen.add(choice);
    const inOrder = this.shape.choices.filter((one) => chosen.has(one));
    this.change(inOrder.length || this.field.isRequired ? inOrder : undefined);
  }
}
customElements.define('ac-field-many', AcFieldMany);
