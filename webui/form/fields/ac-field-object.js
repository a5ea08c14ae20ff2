import {css, html, nothing} from 'lit';
import {repeat} from 'lit/directives/repeat.js';
import {t} from '../../base/i18n.js';
import {isComposing} from '../../base/input-method.js';
import {FieldElement} from './field-element.js';
import {fieldTemplate, isWide} from './field-template.js';
import {emptyValue, initialValue} from '../../schema/initial-values.js';
import {withValueAt} from '../../schema/paths.js';
import {shapeOf, valuesSchema} from '../../schema/shape.js';

/** Fields for an object's properties, required ones first, and for entries with arbitrary names. */
export class AcFieldObject extends FieldElement {
  static properties = {
    _newKey: {state: true},
    _renamed: {state: true},
    _rename: {state: true},
  };

  static styles = [FieldElement.styles, css`
    .fields { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 15rem), 1fr)); gap: var(--ac-space-4) var(--ac-space-5); align-items: start; }
    .wide { grid-column: 1 / -1; }
    fieldset { margin: 0; padding: var(--ac-space-3) 0 var(--ac-space-1) var(--ac-space-4); border: 0; border-inline-start: 2px solid var(--ac-border); min-width: 0; display: grid; gap: var(--ac-space-3); }
    fieldset.absent { padding: 0; border: 0; gap: var(--ac-space-1); }
    .add { justify-self: start; }
    legend { float: left; width: 100%; padding: 0; }
    legend + * { clear: both; }
    .entry { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: var(--ac-space-2); align-items: end; }
    .whole { border: 1px solid var(--ac-border); border-radius: var(--ac-radius-m); background: var(--ac-surface); }
    .whole > .bar { display: flex; align-items: center; padding: var(--ac-space-1) var(--ac-space-1) var(--ac-space-1) var(--ac-space-3); border-bottom: 1px solid var(--ac-border); }
    .whole > .bar > .label { flex: 1; min-width: 0; overflow-wrap: anywhere; font-family: var(--ac-font-mono); font-size: var(--ac-text-s); font-weight: var(--ac-weight-medium); }
    .whole > .body { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-3); padding: var(--ac-space-3); }
    .renaming { grid-column: 1 / -1; display: flex; flex-wrap: wrap; gap: var(--ac-space-2); max-width: 28rem; }
    .renaming input { flex: 1 1 10rem; width: auto; }
    .adding { display: flex; flex-wrap: wrap; gap: var(--ac-space-2); max-width: 28rem; }
    .adding input { flex: 1 1 10rem; width: auto; }
  `];

  constructor() {
    super();
    this._newKey = '';
    /** The entry that is being renamed. */
    this._renamed = '';
    this._rename = '';
  }

  get isAbsent() {
    return (this.value === undefined || this.value === null) && !(this.field.isRequired && this.value === undefined);
  }

  get hasFields() {
    return !this.isAbsent;
  }

  render() {
    const {path, isBare} = this.field;
    if (path.length === 0) return html`${this.renderNotes()}${this._renderFields()}`;
    if (isBare && !this.isAbsent) return html`<div class="frame">${this._renderFields()}${this.renderNotes()}</div>`;
    return html`
      <fieldset part="frame" class=${this.isAbsent ? 'absent' : ''} aria-describedby=${this.described}>
        <legend class=${isBare ? 'visually-hidden' : ''}>
          <span class="head"><span class="label">${this.field.label}</span>${this.renderMust()}${this._renderPresence()}${this.renderNull()}</span>
        </legend>
        ${this.renderDescription()} ${this.isAbsent ? this._renderAddWhole() : this._renderFields()} ${this.renderNotes()}
      </fieldset>`;
  }

  _renderPresence() {
    if (this.isAbsent || this.field.isRequired) return nothing;
    return html`<button type="button" class="link" ?disabled=${this.isDisabled} aria-label=${t('form.removeNamed', {name: this.field.label})}
      @click=${() => this.change(undefined)}>${t('form.remove')}</button>`;
  }

  _renderAddWhole() {
    return html`<button type="button" class="small add" ?disabled=${this.isDisabled} aria-label=${t('form.addNamed', {name: this.field.label})}
      @click=${() => this.change(emptyValue(this.field.part, this.form.root) ?? {})}><ac-icon name="plus"></ac-icon>${t('form.add')}</button>`;
  }

  _renderFields() {
    const {properties = {}, required = []} = this.schema;
    const isRequired = (/** @type {string} */ name) => required.includes(name);
    const names = Object.keys(properties).sort((one, other) => Number(isRequired(other)) - Number(isRequired(one)));
    const extra = Object.keys(this.value ?? {}).filter((name) => !Object.hasOwn(properties, name) && this.value[name] !== undefined);
    const values = valuesSchema(this.schema);
    const takesMore = values !== null || this.schema.additionalProperties === true;
    if (names.length + extra.length === 0 && !takesMore) return html`<p class="hint">${t('form.noFields')}</p>`;
    return html`
      <div class="fields">
        ${repeat(names, (name) => name, (name) => this._renderProperty(name, properties[name], isRequired(name)))}
        ${repeat(extra, (name) => name, (name) => this._renderEntry(name, values ?? {}))}
        ${takesMore ? this._renderAdding() : nothing}
      </div>`;
  }

  /** @param {string} name @param {import('../../schema/shape.js').Schema} part @param {boolean} isRequired */
  _renderProperty(name, part, isRequired) {
    // settings have a display name; tool arguments are labelled with their own name
    const field = {part, path: [...this.field.path, name], label: part['x-label'] ?? name, isRequired, isBare: false};
    const value = this.value?.[name];
    return html`<div class=${isWide(field, value, this.form) ? 'wide' : ''}>${fieldTemplate(field, value, this.form)}</div>`;
  }

  /** @param {string} name @param {import('../../schema/shape.js').Schema} part */
  _renderEntry(name, part) {
    const field = {part, path: [...this.field.path, name], label: name, isRequired: false, isBare: false};
    const value = this.value[name];
    const isWhole = value !== null && shapeOf(part, this.form.root).kind === 'object' && typeof value === 'object';
    const renaming = this._renamed === name ? this._renderRenaming(name) : nothing;
    if (!isWhole) return html`<div class="entry wide">${renaming}${fieldTemplate(field, value, this.form)}<span>${this._renderEntryButtons(name)}</span></div>`;
    return html`
      <div class="whole wide" role="group" aria-label=${name}>
        <div class="bar"><span class="label">${name}</span>${this._renderEntryButtons(name)}</div>
        <div class="body">${renaming}${fieldTemplate({...field, isBare: true}, value, this.form)}</div>
      </div>`;
  }

  /** @param {string} name */
  _renderEntryButtons(name) {
    return html`
      <button type="button" class="quiet icon small" aria-label=${t('form.renameNamed', {name})} title=${t('form.rename')}
        ?disabled=${this.isDisabled} @click=${() => this._beginRenaming(name)}><ac-icon name="pencil"></ac-icon></button>
      <button type="button" class="quiet icon small" aria-label=${t('form.removeNamed', {name})} title=${t('form.remove')}
        ?disabled=${this.isDisabled} @click=${() => this.change(withValueAt(this.value, [name], undefined))}><ac-icon name="x"></ac-icon></button>`;
  }

  /** @param {string} name */
  _renderRenaming(name) {
    const isTaken = this._rename !== name && Object.hasOwn(this.value, this._rename);
    return html`
      <div class="renaming">
        <input id="rename" aria-label=${t('form.newName', {name})} .value=${this._rename} autocomplete="off" spellcheck="false" aria-invalid=${isTaken ? 'true' : nothing}
          @input=${(/** @type {Event} */ event) => { this._rename = /** @type {HTMLInputElement} */ (event.target).value; }} @keydown=${this._onRenameKey}>
        <button type="button" ?disabled=${!this._rename || isTaken} @click=${this._endRenaming}>${t('form.rename')}</button>
        ${isTaken ? html`<p class="field-error">${t('form.keyTaken')}</p>` : nothing}
      </div>`;
  }

  /** @param {string} name */
  async _beginRenaming(name) {
    this._renamed = this._renamed === name ? '' : name;
    this._rename = name;
    await this.updateComplete;
    /** @type {HTMLInputElement | null} */ (this.renderRoot.querySelector('#rename'))?.select();
  }

  /** @param {KeyboardEvent} event */
  _onRenameKey(event) {
    if (isComposing(event) || !['Enter', 'Escape'].includes(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === 'Escape') this._renamed = '';
    else this._endRenaming();
  }

  /** Rename the entry in place, because the order may be significant. */
  _endRenaming() {
    const [before, after] = [this._renamed, this._rename];
    if (!after || (after !== before && Object.hasOwn(this.value, after))) return;
    this._renamed = '';
    if (after !== before) this.change(Object.fromEntries(Object.entries(this.value).map(([name, value]) => [name === before ? after : name, value])));
  }

  _renderAdding() {
    const isTaken = Object.hasOwn(this.value ?? {}, this._newKey);
    return html`
      <div class="wide">
        <div class="adding">
          <input placeholder=${t('form.addHint')} aria-label=${t('form.addHint')} .value=${this._newKey} ?disabled=${this.isDisabled}
            autocomplete="off" spellcheck="false" aria-invalid=${isTaken ? 'true' : nothing}
            @input=${(/** @type {Event} */ event) => { this._newKey = /** @type {HTMLInputElement} */ (event.target).value; }}
            @keydown=${this._onKey}>
          <button type="button" ?disabled=${this.isDisabled || !this._newKey || isTaken} @click=${this._addEntry}>
            <ac-icon name="plus"></ac-icon>${t('form.add')}</button>
        </div>
        ${isTaken ? html`<p class="field-error">${t('form.keyTaken')}</p>` : nothing}
      </div>`;
  }

  /** @param {KeyboardEvent} event */
  _onKey(event) {
    if (event.key !== 'Enter' || isComposing(event) || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    this._addEntry();
  }

  _addEntry() {
    if (!this._newKey || Object.hasOwn(this.value ?? {}, this._newKey)) return;
    // null and '' count as values, so the new entry is shown and can be filled in
    const first = initialValue(valuesSchema(this.schema) ?? {}, this.form.root) ?? (this._isText() ? '' : null);
    this.change(withValueAt(this.value ?? {}, [this._newKey], first));
    this._newKey = '';
  }

  _isText() {
    const {type} = valuesSchema(this.schema) ?? {};
    return type === undefined || type === 'string';
  }
}
customElements.define('ac-field-object', AcFieldObject);
