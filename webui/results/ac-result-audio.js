import {LitElement, css, html} from 'lit';
import {Localized, formatBytes, t} from '../base/i18n.js';
import {base, buttons} from '../ui/styles.js';
import '../ui/ac-icon.js';

/** Base64 audio of a result. It is played from memory: nothing is loaded from elsewhere. */
export class AcResultAudio extends Localized(LitElement) {
  static properties = {
    mime: {},
    base64: {attribute: false},
    _source: {state: true},
  };

  static styles = [base, buttons, css`
    figure { display: grid; gap: var(--ac-space-2); justify-items: start; }
    audio { max-width: 100%; }
    figcaption { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-1) var(--ac-space-3); color: var(--ac-text-muted); font-size: var(--ac-text-s); }
  `];

  constructor() {
    super();
    this.mime = '';
    this.base64 = '';
    this._source = '';
    this._bytes = 0;
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (!changed.has('base64') && !changed.has('mime')) return;
    URL.revokeObjectURL(this._source);
    const bytes = Uint8Array.from(atob(this.base64), (char) => char.charCodeAt(0));
    const mime = /^audio\/[\w.+-]+$/.test(this.mime) ? this.mime : 'application/octet-stream';
    this._source = URL.createObjectURL(new Blob([bytes], {type: mime}));
    this._bytes = bytes.length;
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    URL.revokeObjectURL(this._source);
  }

  render() {
    return html`
      <figure>
        <audio controls src=${this._source} aria-label=${t('results.audio')}></audio>
        <figcaption>
          <span>${this.mime} · ${formatBytes(this._bytes)}</span>
          <a class="button small quiet" href=${this._source} download="audio"><ac-icon name="download"></ac-icon>${t('results.download')}</a>
        </figcaption>
      </figure>`;
  }
}
customElements.define('ac-result-audio', AcResultAudio);
