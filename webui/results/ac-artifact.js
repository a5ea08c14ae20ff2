import {LitElement, css, html, nothing} from 'lit';
import {client} from '../client/client.js';
import {Localized, formatBytes, t} from '../base/i18n.js';
import {ArtifactText} from './artifact-text.js';
import {languageOf} from './text-detection.js';
import {base, buttons, cards, fields} from '../ui/styles.js';
import '../ui/content/ac-code.js';
import '../ui/ac-error-card.js';
import '../ui/ac-icon.js';
import './ac-result-image.js';

/** An artifact of a result: preview, reading by byte ranges, text search and download. */
export class AcArtifact extends Localized(LitElement) {
  static properties = {
    link: {attribute: false},
    _part: {state: true},
    _found: {state: true},
    _query: {state: true},
    _error: {state: true},
    _isBusy: {state: true},
    _imageUrl: {state: true},
  };

  static styles = [base, buttons, cards, fields, css`
    .card { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-3); padding: var(--ac-space-3); min-width: 0; }
    header { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-2) var(--ac-space-3); }
    header ac-icon { color: var(--ac-text-muted); }
    .names { flex: 1 1 12rem; min-width: 0; }
    .names strong { font-weight: var(--ac-weight-medium); overflow-wrap: anywhere; }
    .bar { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-2); font-size: var(--ac-text-s); }
    form { display: flex; flex: 1 1 16rem; gap: var(--ac-space-2); }
    form input { flex: 1; min-width: 0; min-height: 1.75rem; }
    .where { color: var(--ac-text-muted); font-variant-numeric: tabular-nums; }
    ol { position: relative; display: grid; max-height: 16rem; overflow: auto; border: 1px solid var(--ac-border); border-radius: var(--ac-radius-m); }
    li button { display: grid; grid-template-columns: 5rem minmax(0, 1fr); justify-content: stretch; width: 100%; text-align: start; border: 0; border-radius: 0; background: none; box-shadow: none; font: inherit; font-family: var(--ac-font-mono); font-size: var(--ac-text-s); }
    li button:focus-visible { outline-offset: -2px; }
    li span:first-child { color: var(--ac-text-muted); text-align: end; font-variant-numeric: tabular-nums; }
    li span:last-child { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; line-height: 1.6; }
  `];

  constructor() {
    super();
    /** @type {{artifactId: string, mime: string, sizeBytes: number, name: string, preview?: string}} */
    this.link = {artifactId: '', mime: '', sizeBytes: 0, name: ''};
    /** @type {import('./artifact-text.js').Part | null} */
    this._part = null;
    /** @type {{matches: {line: number, offset: number, text: string}[], isCut: boolean} | null} */
    this._found = null;
    this._query = '';
    /** @type {unknown} */
    this._error = null;
    this._isBusy = false;
    this._imageUrl = '';
    /** @type {ArtifactText | null} */
    this._text = null;
  }

  get _isText() {
    return /^text\/|json|xml|javascript|yaml/.test(this.link.mime);
  }

  get _isImage() {
    return this.link.mime.startsWith('image/');
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    if (this._imageUrl) URL.revokeObjectURL(this._imageUrl);
    this._imageUrl = '';
  }

  render() {
    const {name, mime, sizeBytes, preview} = this.link;
    return html`
      <div class="card">
        <header>
          <ac-icon name=${this._isImage ? 'image' : 'file-text'}></ac-icon>
          <div class="names"><strong>${name}</strong> <span class="muted small">${mime} · ${formatBytes(sizeBytes)}</span></div>
          ${this._isText && !this._part ? html`<button class="small" ?disabled=${this._isBusy} @click=${() => this._go(0)}>${t('results.open')}</button>` : nothing}
          ${this._isImage && !this._imageUrl ? html`<button class="small" ?disabled=${this._isBusy} @click=${this._showImage}>${t('results.show')}</button>` : nothing}
          <button class="small" ?disabled=${this._isBusy} @click=${this._download}><ac-icon name="download"></ac-icon>${t('results.download')}</button>
        </header>
        ${this._error ? html`<ac-error-card .error=${this._error}></ac-error-card>` : nothing}
        ${this._imageUrl ? html`<ac-result-image source=${this._imageUrl} name=${name} .sizeBytes=${sizeBytes}></ac-result-image>` : nothing}
        ${this._part ? this._renderPart(this._part) : preview ? html`<ac-code .text=${preview} label=${t('results.beginning')} wraps></ac-code>` : nothing}
      </div>`;
  }

  /** @param {import('./artifact-text.js').Part} part */
  _renderPart({text, start, end}) {
    const size = this.link.sizeBytes;
    return html`
      <div class="bar">
        <form @submit=${this._search}>
          <input type="search" placeholder=${t('results.searchText')} aria-label=${t('results.searchText')} .value=${this._query} maxlength="200"
            @input=${(/** @type {Event} */ event) => { this._query = /** @type {HTMLInputElement} */ (event.target).value; }}>
          <button class="small" ?disabled=${this._isBusy || !this._query}><ac-icon name="search"></ac-icon>${t('results.search')}</button>
        </form>
        <span class="where" role="status">${t('results.range', {start: formatBytes(start), end: formatBytes(end), size: formatBytes(size)})}</span>
        <button class="small" ?disabled=${this._isBusy || start === 0} @click=${() => this._goBack(start)}>${t('results.earlier')}</button>
        <button class="small" ?disabled=${this._isBusy || end >= size} @click=${() => this._go(end)}>${t('results.later')}</button>
      </div>
      ${this._found ? this._renderFound(this._found) : nothing}
      <ac-code .text=${text} language=${languageOf(this.link.name)} label=${this.link.name}></ac-code>`;
  }

  /** @param {NonNullable<AcArtifact['_found']>} found */
  _renderFound({matches, isCut}) {
    return html`
      <p class="small muted" role="status">${t(isCut ? 'results.matchesAtLeast' : 'results.matches', {n: matches.length})}</p>
      ${matches.length ? html`<ol>${matches.map(({line, offset, text}) => html`
        <li><button @click=${() => this._go(offset)}><span>${line}</span><span>${text}</span></button></li>`)}</ol>` : nothing}`;
  }

  /** @param {number} start */
  _go(start) {
    return this._try(async () => { this._part = await this._reader.partFrom(start); });
  }

  /** @param {number} end */
  _goBack(end) {
    return this._try(async () => { this._part = await this._reader.partUpTo(end); });
  }

  get _reader() {
    if (this._text?.id !== this.link.artifactId) this._text = new ArtifactText(this.link.artifactId, this.link.sizeBytes);
    return this._text;
  }

  /** @param {Event} event */
  _search(event) {
    event.preventDefault();
    return this._try(async () => { this._found = await this._reader.search(this._query); });
  }

  _showImage() {
    return this._try(async () => { this._imageUrl = await client.artifactUrl(this.link.artifactId); });
  }

  _download() {
    return this._try(async () => {
      const url = await client.artifactUrl(this.link.artifactId);
      Object.assign(document.createElement('a'), {href: url, download: this.link.name}).click();
      URL.revokeObjectURL(url);
    });
  }

  /** @param {() => Promise<void>} step */
  async _try(step) {
    [this._isBusy, this._error] = [true, null];
    try {
      await step();
    } catch (error) {
      this._error = error;
    } finally {
      this._isBusy = false;
    }
  }
}
customElements.define('ac-artifact', AcArtifact);
