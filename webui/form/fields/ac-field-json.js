import {css, html, nothing} from 'lit';
import {live} from 'lit/directives/live.js';
import {t} from '../../base/i18n.js';
import {growing} from '../../ui/growing-textarea.js';
import {FieldElement} from './field-element.js';
import {canShow} from '../../schema/shape.js';

/** JSON text field, for values without a specific schema and for values that do not fit their field. */
export class AcFieldJson extends FieldElement {
  static properties = {_text: {state: true}};

  static styles = [FieldElement.styles, css`
    textarea { field-sizing: content; min-height: var(--ac-control); max-height: 24rem; font-family: var(--ac-font-mono); font-size: var(--ac-text-s); }
  `];

  constructor() {
    super();
    /** @type {string | null} What the user typed; null if the text is generated from the value. */
    this._text = null;
    /** @type {unknown} */
    this._reported = undefined;
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (changed.has('value') && this.value !== this._reported) {
      this._text = null;
      this.typingError = null;
    }
  }

  render() {
    const own = this.value === undefined ? '' : JSON.stringify(this.value, null, 2);
    const kind = html`<span class="kind">${t('form.type.json')}</span>`;
    const fits = canShow(this.shape, this.value);
    return this.renderFrame(html`
      <textarea id="control" rows="1" .value=${live(this._text ?? own)} aria-label=${this.spokenLabel} spellcheck="false"
        aria-describedby=${this.described} aria-invalid=${this.invalid} ?required=${this.field.isRequired}
        ?disabled=${this.isDisabled} autocomplete="off" @input=${fits ? this._take : this._hold} @change=${this._take} ${growing()}></textarea>
      ${fits ? nothing : html`<p class="hint">${t('form.doesNotFit')}</p>`}`, kind);
  }

  /** Store the text without applying it: once the value fits another kind of field, that field would replace this one during typing. @param {Event} event */
  _hold(event) {
    this._text = /** @type {HTMLTextAreaElement} */ (event.target).value;
  }

  /** @param {Event} event */
  _take(event) {
    const text = /** @type {HTMLTextAreaElement} */ (event.target).value;
    this._text = text;
    try {
      this._reported = text.trim() === '' ? undefined : JSON.parse(text);
      this.typingError = null;
      this.change(this._reported);
    } catch (error) {
      const message = t('form.jsonInvalid', {message: /** @type {Error} */ (error).message});
      this.typingError = {path: this.field.path, message};
      this.requestUpdate();
    }
  }
}
customElements.define('ac-field-json', AcFieldJson);
