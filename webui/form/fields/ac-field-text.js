import {css, html, nothing} from 'lit';
import {live} from 'lit/directives/live.js';
import {formatBytes, t} from '../../base/i18n.js';
import {growing} from '../../ui/growing-textarea.js';
import {FieldElement} from './field-element.js';

const FILE_BYTES = 2 * 1024 * 1024; // fits into a call, with room for the rest of it
const LONG = 20_000; // longer than any path or URL: a field that allows this much is not meant for one line
const LONG_NAMES = /^(content|contents|text|body|prompt|message|code|script|diff|patch|old|new|html|markdown|sql)$|_(text|content|body)$/i;

/** Text field, single-line or multiline, which can be filled from a file; secrets are hidden. */
export class AcFieldText extends FieldElement {
  static properties = {
    _isLong: {state: true},
    _isShown: {state: true},
    _fileNote: {state: true},
  };

  static styles = [FieldElement.styles, css`
    textarea { field-sizing: content; min-height: 4rem; max-height: 24rem; font-family: var(--ac-font-mono); font-size: var(--ac-text-s); }
    .line { position: relative; }
    .line.growing input { padding-inline-end: var(--ac-control); }
    .grow { position: absolute; inset: 2px 2px auto auto; min-height: calc(var(--ac-control) - 4px); width: calc(var(--ac-control) - 4px); color: var(--ac-text-muted); }
    @media (hover: hover) { .line:not(:hover, :focus-within) .grow { opacity: 0; } }
    .tools { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-1) var(--ac-space-3); font-size: var(--ac-text-s); }
    .tools input { display: none; }
    .dropping { outline: 2px dashed var(--ac-accent); outline-offset: 2px; }
  `];

  constructor() {
    super();
    /** @type {boolean | null} */
    this._isLong = null;
    this._isShown = false;
    this._fileNote = '';
  }

  get isSecret() {
    return this.schema.format === 'password' || this.schema.writeOnly === true;
  }

  get isLong() {
    if (this.isSecret) return false;
    if (typeof this.value === 'string' && this.value.includes('\n')) return true;
    return this._isLong ?? this._isMeantLong();
  }

  /** Return true if the schema, or else the name, suggests a multiline text. */
  _isMeantLong() {
    const {schema} = this;
    if (schema.format || schema.pattern || schema.contentMediaType?.startsWith('text/')) return Boolean(schema.contentMediaType);
    return schema.maxLength > LONG || LONG_NAMES.test(String(this.field.path.at(-1) ?? ''));
  }

  render() {
    return this.renderFrame(this.isLong ? this._renderLong() : this._renderLine());
  }

  _renderLine() {
    const {examples} = this.schema;
    const line = html`
      <input id="control" type=${this.isSecret && !this._isShown ? 'password' : 'text'} .value=${live(this.value ?? '')}
        placeholder=${this._placeholder()} list=${examples?.length ? 'examples' : nothing} aria-label=${this.spokenLabel}
        aria-describedby=${this.described} aria-invalid=${this.invalid} ?required=${this.field.isRequired}
        ?disabled=${this.isDisabled} autocomplete="off" spellcheck="false" @input=${this._onInput} @paste=${this._onPaste}>
      ${examples?.length ? html`<datalist id="examples">${examples.map((/** @type {any} */ one) => html`<option value=${String(one)}></option>`)}</datalist>` : nothing}`;
    return html`<div class=${this.isSecret ? 'row' : 'line growing'}>${line}${this._renderBeside()}</div>`;
  }

  _renderBeside() {
    if (this.isSecret) {
      return html`<button type="button" class="quiet" aria-pressed=${this._isShown} ?disabled=${!this.value}
        @click=${() => { this._isShown = !this._isShown; }}>${t(this._isShown ? 'form.hideSecret' : 'form.showSecret')}</button>`;
    }
    return html`<button type="button" class="quiet icon grow" title=${t('form.multiline')} aria-label=${t('form.multiline')}
      ?disabled=${this.isDisabled} @click=${() => this._setLong(true)}><ac-icon name="chevron-down"></ac-icon></button>`;
  }

  _renderLong() {
    return html`
      <textarea id="control" rows="3" .value=${live(this.value ?? '')} placeholder=${this._placeholder()}
        aria-label=${this.spokenLabel} aria-describedby=${this.described} aria-invalid=${this.invalid}
        ?required=${this.field.isRequired} ?disabled=${this.isDisabled} spellcheck="false" autocomplete="off"
        @input=${this._onInput} @dragover=${this._onDragOver} @dragleave=${this._onDragLeave} @drop=${this._onDrop} ${growing()}></textarea>
      <div class="tools">
        <button type="button" class="small" ?disabled=${this.isDisabled} @click=${this._chooseFile}><ac-icon name="file-text"></ac-icon>${t('form.loadFile')}</button>
        <input type="file" tabindex="-1" aria-hidden="true" @change=${this._onFile}>
        ${this.value?.includes('\n') || this._isMeantLong() ? nothing : html`
          <button type="button" class="small quiet" @click=${() => this._setLong(false)}>${t('form.singleLine')}</button>`}
        <span class="hint" role="status">${this._fileNote}</span>
      </div>`;
  }

  _placeholder() {
    if (this.isSecret && this.note.isSet) return t('form.secretKept');
    const {default: byDefault, examples} = this.schema;
    if (typeof byDefault === 'string' && byDefault) return t('form.default', {value: byDefault});
    return examples?.length ? String(examples[0]) : '';
  }

  /** @param {import('../../schema/validate.js').FieldError} error */
  renderRemedy(error) {
    if (error.key !== 'form.error.required' || (this.schema.minLength ?? 0) > 0 || this.isSecret) return nothing;
    return html`<button type="button" class="link" @click=${() => this.change('')}>${t('form.useEmptyText')}</button>`;
  }

  /** @param {InputEvent} event */
  _onInput(event) {
    this._fileNote = '';
    const {value} = /** @type {HTMLInputElement} */ (event.target);
    // an optional text is not sent if it is empty
    this.change(value === '' && !this.field.isRequired ? undefined : value);
  }

  /** @param {ClipboardEvent} event  A single-line input would drop the line breaks. */
  _onPaste(event) {
    const text = event.clipboardData?.getData('text/plain') ?? '';
    if (this.isSecret || !text.trimEnd().includes('\n')) return;
    event.preventDefault();
    const {value, selectionStart, selectionEnd} = /** @type {HTMLInputElement} */ (event.target);
    this.change(value.slice(0, selectionStart ?? 0) + text + value.slice(selectionEnd ?? value.length));
    this._focusWhenReady();
  }

  /** @param {boolean} isLong */
  _setLong(isLong) {
    this._isLong = isLong;
    this._focusWhenReady();
  }

  async _focusWhenReady() {
    await this.updateComplete;
    this.focusControl();
  }

  _chooseFile() {
    /** @type {HTMLInputElement} */ (this.renderRoot.querySelector('input[type="file"]')).click();
  }

  /** @param {Event} event */
  _onFile(event) {
    const input = /** @type {HTMLInputElement} */ (event.target);
    const [file] = input.files ?? [];
    if (file) this._load(file);
    input.value = '';
  }

  /** @param {DragEvent} event */
  _onDragOver(event) {
    if (!event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    /** @type {HTMLElement} */ (event.target).classList.add('dropping');
  }

  /** @param {DragEvent} event */
  _onDragLeave(event) {
    /** @type {HTMLElement} */ (event.target).classList.remove('dropping');
  }

  /** @param {DragEvent} event */
  _onDrop(event) {
    this._onDragLeave(event);
    const [file] = event.dataTransfer?.files ?? [];
    if (!file) return;
    event.preventDefault();
    this._load(file);
  }

  /** @param {File} file */
  async _load(file) {
    if (file.size > FILE_BYTES) {
      this._fileNote = t('form.fileTooLarge', {size: formatBytes(file.size), limit: formatBytes(FILE_BYTES)});
      return;
    }
    try {
      const text = new TextDecoder('utf-8', {fatal: true}).decode(await file.arrayBuffer());
      this.change(text);
      this._fileNote = t('form.fileLoaded', {name: file.name, size: formatBytes(file.size)});
    } catch {
      this._fileNote = t('form.fileNotText');
    }
  }
}
customElements.define('ac-field-text', AcFieldText);
