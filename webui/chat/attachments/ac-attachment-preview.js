import {LitElement, css, html, nothing} from 'lit';
import {client} from '../../client/client.js';
import {isPicture} from './attachments.js';
import {base} from '../../ui/styles.js';
import '../../ui/ac-icon.js';

const SHOWN_BYTES = 8 * 1024 * 1024;

/** The thumbnail of a file: the image itself if it is one, else an icon. It is decorative: the name is shown beside it. */
export class AcAttachmentPreview extends LitElement {
  static properties = {
    file: {attribute: false},
    _loaded: {state: true},
  };

  static styles = [base, css`
    :host { display: grid; place-items: center; overflow: hidden; background: var(--ac-surface-sunken); color: var(--ac-text-muted); }
    img { width: 100%; height: 100%; object-fit: cover; }
    ac-icon { width: 1.5em; height: 1.5em; }
  `];

  constructor() {
    super();
    /** @type {{artifactId: string, mime: string, bytes: number, url?: string} | null} */
    this.file = null;
    this._loaded = '';
  }

  /** @param {Map<string, any>} changed */
  updated(changed) {
    if (!changed.has('file')) return;
    if (this.file?.artifactId !== changed.get('file')?.artifactId) this._forget();
    if (!this._loaded) void this._load();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this._forget();
  }

  connectedCallback() {
    super.connectedCallback();
    if (this.hasUpdated) void this._load();
  }

  render() {
    if (!this.file) return nothing;
    const source = this.file.url || this._loaded;
    return source ? html`<img src=${source} alt="">` : html`<ac-icon name=${isPicture(this.file.mime) ? 'image' : 'file-text'}></ac-icon>`;
  }

  async _load() {
    const file = this.file;
    if (!file?.artifactId || file.url || !isPicture(file.mime) || file.bytes > SHOWN_BYTES) return;
    try {
      const url = await client.artifactUrl(file.artifactId);
      if (this.isConnected && this.file?.artifactId === file.artifactId && !this._loaded) this._loaded = url;
      else URL.revokeObjectURL(url);
    } catch {
      // the icon stays; opening the file shows the error
    }
  }

  _forget() {
    if (this._loaded) URL.revokeObjectURL(this._loaded);
    this._loaded = '';
  }
}
customElements.define('ac-attachment-preview', AcAttachmentPreview);
