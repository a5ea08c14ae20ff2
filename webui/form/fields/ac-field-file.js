import {css, html, nothing} from 'lit';
import {formatBytes, t} from '../../base/i18n.js';
import {FieldElement} from './field-element.js';

const FILE_BYTES = 3 * 1024 * 1024; // 4 MiB as base64, the limit of a request body
const CHUNK = 0x8000; // number of arguments that is safe in one function call

/** Field for a chosen or dropped file, sent as base64. */
export class AcFieldFile extends FieldElement {
  static properties = {
    _note: {state: true},
    _isDropping: {state: true},
  };

  static styles = [FieldElement.styles, css`
    .drop { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-2); padding: var(--ac-space-3);
      border: 1px dashed var(--ac-border-strong); border-radius: var(--ac-radius-m); }
    .drop.dropping { border-color: var(--ac-accent); background: var(--ac-accent-soft); }
    .drop input { flex: 1 1 12rem; min-width: 0; border: 0; padding: 0; background: none; }
  `];

  constructor() {
    super();
    this._note = '';
    this._isDropping = false;
  }

  render() {
    const note = this.value && !this._note ? t('form.fileContent', {size: formatBytes(sizeOf(this.value))}) : this._note;
    return this.renderFrame(html`
      <div class=${this._isDropping ? 'drop dropping' : 'drop'} @dragover=${this._onDragOver}
        @dragleave=${() => { this._isDropping = false; }} @drop=${this._onDrop}>
        <input id="control" type="file" title=${t('form.dropFile')} aria-label=${this.spokenLabel} aria-describedby=${this.described}
          aria-invalid=${this.invalid} ?disabled=${this.isDisabled} @change=${this._onFile}>
        <span class="hint" role="status">${note}</span>
        ${this.value === undefined ? nothing : html`
          <button type="button" class="small quiet" ?disabled=${this.isDisabled} @click=${this._clear}>${t('form.remove')}</button>`}
      </div>`);
  }

  _clear() {
    this._note = '';
    /** @type {HTMLInputElement} */ (this.renderRoot.querySelector('input')).value = '';
    this.change(undefined);
  }

  /** @param {DragEvent} event */
  _onDragOver(event) {
    event.preventDefault();
    this._isDropping = true;
  }

  /** @param {DragEvent} event */
  _onDrop(event) {
    event.preventDefault();
    this._isDropping = false;
    const [file] = event.dataTransfer?.files ?? [];
    if (file) this._load(file);
  }

  /** @param {Event} event */
  _onFile(event) {
    const [file] = /** @type {HTMLInputElement} */ (event.target).files ?? [];
    if (file) this._load(file);
  }

  /** @param {File} file */
  async _load(file) {
    if (file.size > FILE_BYTES) {
      this._note = t('form.fileTooLarge', {size: formatBytes(file.size), limit: formatBytes(FILE_BYTES)});
      return;
    }
    const text = base64(new Uint8Array(await file.arrayBuffer()));
    this._note = t('form.fileLoaded', {name: file.name, size: formatBytes(file.size)});
    this.change(this.schema.contentEncoding === 'base64url' ? text.replaceAll('+', '-').replaceAll('/', '_') : text);
  }
}
customElements.define('ac-field-file', AcFieldFile);

/** @param {Uint8Array} bytes */
function base64(bytes) {
  let text = '';
  for (let at = 0; at < bytes.length; at += CHUNK) text += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return btoa(text);
}

/** @param {string} text */
const sizeOf = (text) => Math.floor((text.replace(/=+$/, '').length * 3) / 4);
