import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../../base/i18n.js';
import {languageOf} from '../../results/text-detection.js';
import {holdsDiff} from '../../ui/content/unified-diff.js';
import {MASK} from '../../schema/secrets.js';
import {shapeOf} from '../../schema/shape.js';
import {base} from '../../ui/styles.js';
import '../../ui/content/ac-code.js';
import '../../ui/content/ac-diff.js';
import '../../ui/content/ac-json-tree.js';

const LINE_CHARS = 100; // a longer text gets its own frame

/** The arguments of a call in readable form: names with their values, long texts verbatim, secrets hidden. */
export class AcArguments extends Localized(LitElement) {
  static properties = {
    value: {attribute: false},
    schema: {attribute: false},
  };

  static styles = [base, css`
    dl { display: grid; grid-template-columns: fit-content(12rem) minmax(0, 1fr); gap: var(--ac-space-2) var(--ac-space-4); align-items: baseline; font-size: var(--ac-text-s); }
    dt { color: var(--ac-text-muted); overflow-wrap: anywhere; }
    dd { min-width: 0; font-family: var(--ac-font-mono); overflow-wrap: anywhere; white-space: pre-wrap; }
    dt.wide { grid-column: 1 / -1; }
    dd.wide { grid-column: 1 / -1; white-space: normal; margin-top: calc(-1 * var(--ac-space-1)); }
  `];

  constructor() {
    super();
    /** @type {Record<string, any>} */
    this.value = {};
    /** @type {import('../../schema/shape.js').Schema | null} */
    this.schema = null;
  }

  render() {
    const entries = Object.entries(this.value);
    if (!entries.length) return html`<p class="muted small">${t('chat.noArguments')}</p>`;
    return html`<dl>${entries.map(([name, value]) => this._renderOne(name, value))}</dl>`;
  }

  /** @param {string} name @param {any} value */
  _renderOne(name, value) {
    const part = this.schema?.properties?.[name];
    const schema = part ? shapeOf(part, /** @type {any} */ (this.schema)).schema : {};
    const isSecret = schema.format === 'password' || schema.writeOnly;
    const isWide = !isSecret && (isLong(value) || (value !== null && typeof value === 'object' && !isFlat(value)));
    return html`<dt class=${isWide ? 'wide' : ''} title=${schema.description ?? nothing}>${name}</dt><dd class=${isWide ? 'wide' : ''}>${isSecret ? MASK : this._renderValue(name, value)}</dd>`;
  }

  /** @param {string} name @param {any} value */
  _renderValue(name, value) {
    if (isLong(value) && holdsDiff(value)) return html`<ac-diff folds .text=${value}></ac-diff>`;
    if (isLong(value)) return html`<ac-code folds .text=${value} label=${name} language=${languageOf(this.value.path)} ?wraps=${!value.includes('\n')}></ac-code>`;
    if (value !== null && typeof value === 'object') return isFlat(value) ? value.join(', ') : html`<ac-json-tree .value=${value}></ac-json-tree>`;
    return value === '' ? html`<span class="muted">${t('chat.emptyText')}</span>` : String(value);
  }
}
customElements.define('ac-arguments', AcArguments);

/** @param {any} value */
const isLong = (value) => typeof value === 'string' && (value.length > LINE_CHARS || value.includes('\n'));

/** True for a short list of plain values, which needs no tree. @param {any} value */
const isFlat = (value) => Array.isArray(value) && value.length > 0 && value.length <= 8 && value.every((one) => typeof one !== 'object' && String(one).length <= LINE_CHARS);
