import {css, html, nothing} from 'lit';
import {live} from 'lit/directives/live.js';
import {t} from '../../base/i18n.js';
import {FieldElement} from './field-element.js';

const BUTTONS = 4; // maximum number of short values shown side by side
const SHORT = 14;

/** Field for one of a fixed set of values. */
export class AcFieldChoice extends FieldElement {
  static styles = [FieldElement.styles, css`
    fieldset { border: 0; margin: 0; padding: 0; min-width: 0; }
    legend { padding: 0; margin-bottom: var(--ac-space-1); }
    .segments { display: inline-flex; flex-wrap: wrap; max-width: 100%; padding: 2px; gap: 2px; border-radius: var(--ac-radius-m);
      background: var(--ac-surface-sunken); border: 1px solid var(--ac-border); justify-self: start; }
    .segments label { position: relative; display: inline-flex; align-items: center; min-height: calc(var(--ac-control) - 6px);
      padding: 0 var(--ac-space-3); border-radius: calc(var(--ac-radius-m) - 2px); cursor: pointer; color: var(--ac-text-muted); }
    .segments input { position: absolute; inset: 0; width: 100%; height: 100%; margin: 0; opacity: 0; cursor: inherit; }
    .segments label:hover { color: var(--ac-text); }
    .segments label:has(:checked) { background: var(--ac-surface-raised); color: var(--ac-text); box-shadow: var(--ac-shadow-s); }
    .segments label:has(:focus-visible) { outline: 2px solid var(--ac-focus); outline-offset: 1px; }
  `];

  get mayBeUnset() {
    return this.shape.isNullable || (!this.field.isRequired && this.schema.default === undefined);
  }

  render() {
    const {choices, titles} = this.shape;
    const isShort = choices.length <= BUTTONS && titles.every((one) => one.length <= SHORT);
    return isShort && !this.mayBeUnset ? this._renderSegments() : this.renderFrame(this._renderSelect());
  }

  _renderSegments() {
    const shown = this.value ?? this.schema.default;
    const segment = (/** @type {any} */ choice, /** @type {number} */ at) => html`
      <label><input type="radio" name="choice" .checked=${live(choice === shown)} ?disabled=${this.isDisabled}
        @change=${() => this.change(choice)}>${this.shape.titles[at]}</label>`;
    return html`
      <fieldset class="frame" part="frame" aria-describedby=${this.described}>
        <legend class=${this.field.isBare ? 'visually-hidden' : 'head'}>
          <span class="label">${this.field.label}</span> ${this.renderMust()}
        </legend>
        ${this.renderDescription()}
        <div class="segments">${this.shape.choices.map(segment)}</div>
        ${this.renderNotes()}
      </fieldset>`;
  }

  _renderSelect() {
    const {choices, titles} = this.shape;
    const shown = this.value ?? this.schema.default;
    const index = choices.indexOf(shown);
    const label = (/** @type {number} */ at) => (choices[at] === this.schema.default
      ? t('form.defaultChoice', {value: titles[at]}) : titles[at]);
    return html`
      <select id="control" aria-label=${this.spokenLabel} aria-describedby=${this.described} aria-invalid=${this.invalid}
        ?required=${this.field.isRequired} ?disabled=${this.isDisabled} .value=${live(String(index))} @change=${this._onSelect}>
        ${this.mayBeUnset || index < 0 ? html`<option value="-1" ?selected=${index < 0}>${t('form.notSet')}</option>` : nothing}
        ${choices.map((_, at) => html`<option value=${at} ?selected=${at === index}>${label(at)}</option>`)}
      </select>`;
  }

  /** @param {Event} event */
  _onSelect(event) {
    const choice = this.shape.choices[Number(/** @type {HTMLSelectElement} */ (event.target).value)];
    this.change(choice === undefined && this.shape.isNullable && this.field.isRequired ? null : choice);
  }
}
customElements.define('ac-field-choice', AcFieldChoice);
