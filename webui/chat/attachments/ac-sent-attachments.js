import {LitElement, css, html, nothing} from 'lit';
import {client} from '../../client/client.js';
import {Localized, formatBytes, t} from '../../base/i18n.js';
import {isPicture} from './attachments.js';
import {base, buttons} from '../../ui/styles.js';
import '../../results/ac-artifact.js';
import '../../results/ac-result-image.js';
import '../../ui/ac-error-card.js';
import '../../ui/overlay/ac-dialog.js';
import './ac-attachment-preview.js';

/** The attachments of a sent message; each can be opened. */
export class AcSentAttachments extends Localized(LitElement) {
  static properties = {
    files: {attribute: false},
    _open: {state: true},
    _url: {state: true},
    _error: {state: true},
  };

  static styles = [base, buttons, css`
    ul { display: flex; flex-wrap: wrap; justify-content: flex-end; align-items: flex-end; gap: var(--ac-space-2); }
    li { min-width: 0; }
    li button { display: grid; padding: 0; min-height: 0; overflow: hidden; box-shadow: none; white-space: normal; text-align: start; }
    .picture ac-attachment-preview { width: 8rem; height: 6rem; }
    .file { grid-template-columns: 2.75rem minmax(0, 1fr); align-items: center; gap: var(--ac-space-2); max-width: 15rem; padding-inline-end: var(--ac-space-3); }
    .file ac-attachment-preview { width: 2.75rem; height: 2.75rem; }
    .names { display: grid; font-size: var(--ac-text-s); line-height: 1.35; min-width: 0; font-weight: normal; }
    .names > span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    .about { color: var(--ac-text-muted); font-size: var(--ac-text-xs); }
    ac-dialog::part(dialog) { width: min(64rem, calc(100vw - 2 * var(--ac-space-4))); }
  `];

  constructor() {
    super();
    /** @type {import('../../client/upload.js').Uploaded[]} */
    this.files = [];
    /** @type {import('../../client/upload.js').Uploaded | null} */
    this._open = null;
    this._url = '';
    /** @type {unknown} */
    this._error = null;
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this._close();
  }

  render() {
    return html`
      <ul aria-label=${t('chat.attach.list')}>${this.files.map((file) => html`<li>${this._renderFile(file)}</li>`)}</ul>
      ${this._open ? this._renderDialog(this._open) : nothing}`;
  }

  /** @param {import('../../client/upload.js').Uploaded} file */
  _renderFile(file) {
    const {name, mime, bytes} = file;
    const preview = html`<ac-attachment-preview .file=${file}></ac-attachment-preview>`;
    if (isPicture(mime)) return html`<button class="picture" aria-label=${t('chat.attach.open', {name})} title=${name} @click=${() => this._show(file)}>${preview}</button>`;
    return html`
      <button class="file" aria-label=${t('chat.attach.open', {name: `${name} ${formatBytes(bytes)}`})} @click=${() => this._show(file)}>${preview}
        <span class="names"><span title=${name}>${name}</span> <span class="about">${formatBytes(bytes)}</span></span></button>`;
  }

  /** @param {import('../../client/upload.js').Uploaded} file */
  _renderDialog({artifactId, name, mime, bytes}) {
    return html`
      <ac-dialog open heading=${name} @ac-close=${this._close}>
        ${this._error ? html`<ac-error-card .error=${this._error}></ac-error-card>` : nothing}
        ${isPicture(mime) ? this._url ? html`<ac-result-image source=${this._url} name=${name} .sizeBytes=${bytes}></ac-result-image>` : nothing
          : html`<ac-artifact .link=${{artifactId, name, mime, sizeBytes: bytes}}></ac-artifact>`}
        <button slot="actions" @click=${this._close}>${t('ui.close')}</button>
      </ac-dialog>`;
  }

  /** @param {import('../../client/upload.js').Uploaded} file */
  async _show(file) {
    this._close();
    this._open = file;
    if (!isPicture(file.mime)) return;
    try {
      const url = await client.artifactUrl(file.artifactId);
      if (this._open === file) this._url = url;
      else URL.revokeObjectURL(url);
    } catch (error) {
      this._error = error;
    }
  }

  _close() {
    if (this._url) URL.revokeObjectURL(this._url);
    [this._open, this._url, this._error] = [null, '', null];
  }
}
customElements.define('ac-sent-attachments', AcSentAttachments);
