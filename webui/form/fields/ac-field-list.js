import {css, html, nothing} from 'lit';
import {repeat} from 'lit/directives/repeat.js';
import {t} from '../../base/i18n.js';
import {FieldElement} from './field-element.js';
import {fieldTemplate} from './field-template.js';
import {emptyValue, initialValue} from '../../schema/initial-values.js';
import {shapeOf} from '../../schema/shape.js';

const SIMPLE = new Set(['text', 'number', 'boolean', 'choice', 'constant', 'date', 'null']);

let keys = 0;

/** List field whose entries can be added, removed and moved; a list of fixed length has one field per position. */
export class AcFieldList extends FieldElement {
  static properties = {_announcement: {state: true}};

  static styles = [FieldElement.styles, css`
    fieldset { border: 0; margin: 0; padding: 0; min-width: 0; display: grid; gap: var(--ac-space-1); }
    ol { margin-block: var(--ac-space-1); }
    legend { float: left; width: 100%; padding: 0; }
    legend + * { clear: both; }
    ol { display: grid; gap: var(--ac-space-2); }
    .simple { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: var(--ac-space-2); align-items: start; }
    .complex { border: 1px solid var(--ac-border); border-radius: var(--ac-radius-m); background: var(--ac-surface); }
    .complex > .bar { display: flex; align-items: center; justify-content: space-between; gap: var(--ac-space-2);
      padding: var(--ac-space-1) var(--ac-space-1) var(--ac-space-1) var(--ac-space-3); border-bottom: 1px solid var(--ac-border); }
    .complex > .bar > span { font-size: var(--ac-text-s); color: var(--ac-text-muted); font-variant-numeric: tabular-nums; }
    .complex > .body { padding: var(--ac-space-3); }
    .moves { display: flex; }
    .add { justify-self: start; }
  `];

  constructor() {
    super();
    /** @type {number[]} A stable key for each entry, which moves with it. */
    this._keys = [];
    this._announcement = '';
  }

  get hasFields() {
    return true;
  }

  /** @returns {unknown[]} */
  get entries() {
    return this.value ?? [];
  }

  get isFixed() {
    return this.shape.kind === 'tuple';
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (!changed.has('value')) return;
    while (this._keys.length < this.entries.length) this._keys.push(keys += 1);
    this._keys.length = this.entries.length;
  }

  render() {
    const {isBare, label} = this.field;
    const count = this.entries.length ? html`<span class="kind">${t('form.items', {n: this.entries.length})}</span>` : nothing;
    return html`
      <fieldset part="frame" aria-describedby=${this.described} aria-label=${isBare ? label : nothing}>
        ${isBare ? nothing : html`<legend><span class="head"><span class="label">${label}</span>${this.renderMust()}${count}${this.renderNull()}</span></legend>`}
        ${this.renderDescription()}
        ${this.isFixed ? this._renderPlaces() : this._renderEntries()}
        ${this.renderNotes()}
        <span class="visually-hidden" role="status">${this._announcement}</span>
      </fieldset>`;
  }

  _renderPlaces() {
    const {prefixItems = []} = this.schema;
    if (this.value === undefined && !this.field.isRequired) return this._renderAdd(() => this.change(emptyValue(this.field.part, this.form.root) ?? []));
    return html`<ol>${prefixItems.map((/** @type {object} */ part, /** @type {number} */ index) => html`
      <li>${fieldTemplate({...this._fieldAt(index, part), isBare: false}, this.entries[index], this.form)}</li>`)}</ol>`;
  }

  _renderEntries() {
    const isSimple = SIMPLE.has(shapeOf(this.schema.items, this.form.root).kind);
    const isFull = this.entries.length >= (this.schema.maxItems ?? Infinity);
    const entry = isSimple ? this._renderSimple : this._renderComplex;
    return html`
      ${this.entries.length ? html`<ol>${repeat(this.entries, (_, index) => this._keys[index], entry.bind(this))}</ol>` : nothing}
      ${isFull ? nothing : this._renderAdd(() => this._add())}`;
  }

  /** @param {() => void} add */
  _renderAdd(add) {
    return html`<button type="button" class="add small" aria-label=${t('form.addTo', {name: this.field.label})} ?disabled=${this.isDisabled}
      @click=${add}><ac-icon name="plus"></ac-icon>${t('form.add')}</button>`;
  }

  /** @param {unknown} value @param {number} index */
  _renderSimple(value, index) {
    return html`<li class="simple" data-index=${index}>
      ${fieldTemplate(this._fieldAt(index, this.schema.items), value ?? undefined, this.form)}${this._renderMoves(index)}</li>`;
  }

  /** @param {unknown} value @param {number} index */
  _renderComplex(value, index) {
    return html`<li class="complex" data-index=${index}>
      <div class="bar"><span>${t('form.nth', {name: this.field.label, n: index + 1})}</span>${this._renderMoves(index)}</div>
      <div class="body">${fieldTemplate(this._fieldAt(index, this.schema.items), value, this.form)}</div></li>`;
  }

  /** @param {number} index @param {object} part */
  _fieldAt(index, part) {
    const label = t('form.nth', {name: this.field.label, n: index + 1});
    return {part, path: [...this.field.path, index], label, isRequired: true, isBare: true};
  }

  /** @param {number} index */
  _renderMoves(index) {
    const values = {name: this.field.label, n: index + 1};
    const last = this.entries.length - 1;
    const button = (/** @type {string} */ key, /** @type {string} */ icon, /** @type {boolean} */ isOff, /** @type {() => void} */ act) => html`
      <button type="button" class="small icon quiet ${icon}" aria-label=${t(key, values)} title=${t(key, values)}
        ?disabled=${this.isDisabled || isOff} @click=${act}><ac-icon name=${icon}></ac-icon></button>`;
    const isLeast = this.entries.length <= (this.schema.minItems ?? 0);
    return html`<span class="moves">
      ${last > 0 ? button('form.moveUp', 'arrow-up', index === 0, () => this._move(index, index - 1)) : nothing}
      ${last > 0 ? button('form.moveDown', 'arrow-down', index === last, () => this._move(index, index + 1)) : nothing}
      ${button('form.removeNth', 'x', isLeast, () => this._remove(index))}
    </span>`;
  }

  async _add() {
    const {items} = this.schema;
    this.change([...this.entries, initialValue(items, this.form.root)]);
    await this._settled();
    const fields = this.renderRoot.querySelectorAll(`[data-index="${this.entries.length - 1}"] *`);
    const added = [...fields].find((element) => element instanceof FieldElement);
    await added?.updateComplete;
    added?.focusControl();
  }

  /** @param {number} index */
  async _remove(index) {
    this._keys.splice(index, 1);
    const left = this.entries.filter((_, at) => at !== index);
    this.change(left.length || this.field.isRequired ? left : undefined);
    await this._settled();
    const next = this.renderRoot.querySelector(`[data-index="${Math.min(index, left.length - 1)}"] .x, .add`);
    /** @type {HTMLElement | null} */ (next)?.focus();
  }

  /** @param {number} index @param {number} to */
  async _move(index, to) {
    this._keys.splice(to, 0, ...this._keys.splice(index, 1));
    const entries = [...this.entries];
    entries.splice(to, 0, ...entries.splice(index, 1));
    this.change(entries);
    this._announcement = t('form.entryMoved', {name: this.field.label, n: index + 1, to: to + 1});
    await this._settled();
    const buttons = `.${to < index ? 'arrow-up' : 'arrow-down'}`;
    const moved = /** @type {HTMLButtonElement[]} */ ([...this.renderRoot.querySelectorAll(`[data-index="${to}"] .moves button`)]);
    (moved.find((one) => one.matches(buttons) && !one.disabled) ?? moved.find((one) => !one.disabled))?.focus();
  }

  /** Wait until the change has been passed back down and rendered. */
  async _settled() {
    await new Promise((resolve) => requestAnimationFrame(resolve));
    await this.updateComplete;
  }
}
customElements.define('ac-field-list', AcFieldList);
