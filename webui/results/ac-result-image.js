import {LitElement, css, html, nothing} from 'lit';
import {Localized, formatBytes, t} from '../base/i18n.js';
import {base, buttons} from '../ui/styles.js';
import '../ui/ac-icon.js';

/** Image of a result. `source` is a `data:` or `blob:` URL: nothing is loaded from elsewhere. */
export class AcResultImage extends Localized(LitElement) {
  static properties = {
    source: {},
    name: {},
    sizeBytes: {type: Number, attribute: 'size-bytes'},
    _size: {state: true},
    _isWhole: {state: true},
    _isBroken: {state: true},
  };

  static styles = [base, buttons, css`
    figure { display: grid; gap: var(--ac-space-2); justify-items: start; }
    .frame { position: relative; max-width: 100%; max-height: min(70vh, 48rem); overflow: auto; border: 1px solid var(--ac-border); border-radius: var(--ac-radius-m); background: var(--ac-surface-sunken); }
    img { display: block; max-width: 100%; max-height: min(60vh, 40rem); min-width: 1rem; min-height: 1rem; }
    .whole img { max-width: none; max-height: none; }
    figcaption { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-1) var(--ac-space-3); color: var(--ac-text-muted); font-size: var(--ac-text-s); }
  `];

  constructor() {
    super();
    this.source = '';
    this.name = '';
    this.sizeBytes = 0;
    this._size = '';
    this._isWhole = false;
    this._isBroken = false;
  }

  render() {
    const name = this.name || t('results.image');
    if (this._isBroken) return html`<p class="muted">${t('results.imageBroken', {name})}</p>`;
    return html`
      <figure>
        <div class="frame ${this._isWhole ? 'whole' : ''}" tabindex="0" role="region" aria-label=${name}>
          <img src=${this.source} alt=${name} @load=${this._onLoad} @error=${() => { this._isBroken = true; }}>
        </div>
        <figcaption>
          <span>${this._size}${this.sizeBytes ? html` · ${formatBytes(this.sizeBytes)}` : nothing}</span>
          <button class="small quiet" aria-pressed=${this._isWhole} @click=${() => { this._isWhole = !this._isWhole; }}>${t('results.actualSize')}</button>
          <a class="button small quiet" href=${this.source} download=${this.name || 'image'}><ac-icon name="download"></ac-icon>${t('results.download')}</a>
        </figcaption>
      </figure>`;
  }

  /** @param {Event} event */
  _onLoad(event) {
    const {naturalWidth, naturalHeight} = /** @type {HTMLImageElement} */ (event.target);
    this._size = naturalWidth ? `${naturalWidth} × ${naturalHeight}` : '';
  }
}
customElements.define('ac-result-image', AcResultImage);
