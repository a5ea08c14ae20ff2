import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../base/i18n.js';
import {diffsIn, jsonOf} from './text-detection.js';
import {base, buttons} from '../ui/styles.js';
import './ac-artifact.js';
import '../ui/content/ac-code.js';
import '../ui/content/ac-diff.js';
import './ac-result-audio.js';
import './ac-result-data.js';
import './ac-result-error.js';
import './ac-result-image.js';
import './ac-result-text.js';

/**
 * Result of a call: its content blocks by type, its data, or its error. `isRaw` shows the envelope as JSON;
 * `isBrief` omits structured data that accompanies content, except for diffs in it.
 * @slot actions  Actions for the error, such as a button to retry.
 */
export class AcResult extends Localized(LitElement) {
  static properties = {
    envelope: {attribute: false},
    isRaw: {type: Boolean, attribute: 'raw'},
    isBrief: {type: Boolean, attribute: 'brief'},
  };

  static styles = [base, buttons, css`
    :host { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-3); min-width: 0; }
    summary { cursor: pointer; color: var(--ac-text-muted); font-size: var(--ac-text-s); width: fit-content; border-radius: var(--ac-radius-s); }
    summary:hover { color: var(--ac-text); }
    details[open] > summary { margin-bottom: var(--ac-space-2); }
    .notice { color: var(--ac-text-muted); font-size: var(--ac-text-s); }
  `];

  constructor() {
    super();
    /** @type {import('../client/client.js').Envelope | null} */
    this.envelope = null;
    this.isRaw = false;
    this.isBrief = false;
  }

  render() {
    const {envelope} = this;
    if (!envelope) return nothing;
    if (this.isRaw) return html`<ac-code language="json" .text=${JSON.stringify(envelope, null, 2)} label=${t('results.raw')}></ac-code>`;
    if (envelope.error) return html`<ac-result-error .error=${envelope.error}><slot name="actions" slot="actions"></slot></ac-result-error>`;
    return this._renderSuccess(envelope);
  }

  /** @param {import('../client/client.js').Envelope} envelope */
  _renderSuccess({content = [], data: whole, truncated}) {
    const {picture, data} = splitPicture(whole);
    const hasData = data !== null && data !== undefined;
    const blocks = content.filter((block) => !(hasData && block.type === 'text' && repeats(block.text, data)));
    const isShort = hasData && typeof data !== 'object';
    const diffs = diffsIn(data).filter((diff) => !blocks.some((block) => block.type === 'text' && block.text.includes(diff.trim())));
    return html`
      ${blocks.map((block) => this._renderBlock(block, data))}
      ${picture ? this._renderImage(picture) : nothing}
      ${diffs.map((text) => html`<ac-diff folds .text=${text}></ac-diff>`)}
      ${truncated ? html`<p class="notice">${t('results.truncated')}</p>` : nothing}
      ${hasData && (blocks.length === 0 || isShort) ? html`<ac-result-data .value=${data}></ac-result-data>` : nothing}
      ${hasData && blocks.length > 0 && !isShort && !this.isBrief ? html`
        <details><summary>${t('results.data')}</summary><ac-result-data .value=${data}></ac-result-data></details>` : nothing}
      ${blocks.length === 0 && !hasData ? html`<p class="muted">${t('results.nothing')}</p>` : nothing}`;
  }

  /** @param {any} block @param {any} data */
  _renderBlock(block, data) {
    switch (block.type) {
      case 'text': return html`<ac-result-text .text=${block.text} name=${fileName(data)}></ac-result-text>`;
      case 'image': return this._renderImage(block);
      case 'audio': return html`<ac-result-audio mime=${block.mime} .base64=${block.base64}></ac-result-audio>`;
      case 'resource': return this._renderResource(block);
      case 'artifact': return html`<ac-artifact .link=${block}></ac-artifact>`;
      default: return html`<ac-result-data .value=${block}></ac-result-data>`;
    }
  }

  /** Render an embedded document below its URI. @param {{uri: string, mime: string, text?: string, base64?: string}} block */
  _renderResource({uri, mime, text, base64 = ''}) {
    const caption = html`<p class="notice"><code>${uri}</code> · ${mime}</p>`;
    if (text !== undefined) return html`${caption}<ac-result-text .text=${text}></ac-result-text>`;
    if (mime.startsWith('image/')) return html`${caption}${this._renderImage({mime, base64})}`;
    if (mime.startsWith('audio/')) return html`${caption}<ac-result-audio mime=${mime} .base64=${base64}></ac-result-audio>`;
    return html`${caption}<a class="button small quiet" href=${`data:application/octet-stream;base64,${base64}`} download="document">${t('results.download')}</a>`;
  }

  /** @param {{mime: string, base64: string}} block */
  _renderImage({mime, base64}) {
    if (!/^image\/[\w.+-]+$/.test(mime)) return html`<p class="muted">${t('results.imageBroken', {name: mime})}</p>`;
    const bytes = Math.floor((base64.replace(/=+$/, '').length * 3) / 4);
    return html`<ac-result-image source=${`data:${mime};base64,${base64}`} .sizeBytes=${bytes}></ac-result-image>`;
  }
}
customElements.define('ac-result', AcResult);

/** Take a picture (`mime`, `dataBase64`) out of data. @param {any} data */
function splitPicture(data) {
  if (typeof data?.dataBase64 !== 'string' || !String(data.mime).startsWith('image/')) return {picture: null, data};
  const {dataBase64, ...rest} = data;
  return {picture: {mime: String(data.mime), base64: dataBase64}, data: rest};
}

/** Return true if a text only repeats the data for the model. @param {string} text @param {any} data */
function repeats(text, data) {
  if (typeof data !== 'object') return text === String(data);
  const value = jsonOf(text);
  return value !== undefined && JSON.stringify(value) === JSON.stringify(data);
}

/** Return the file that a result is about, if its data names one; it selects the syntax highlighting. @param {any} data */
function fileName(data) {
  return data !== null && typeof data === 'object' && typeof data.path === 'string' ? data.path : '';
}
