import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../../base/i18n.js';
import {base, buttons} from '../styles.js';

const CHUNK = 100; // entries shown at a time
const TEXT_CHARS = 400; // longer texts are cut
const PREVIEW_KEYS = 5;
const SMALL = 30; // maximum number of entries that are expanded at first below the top level

/** A JSON value as a tree to expand step by step; collapsed parts are not rendered. `depth`: number of levels expanded at first. */
export class AcJsonTree extends Localized(LitElement) {
  static properties = {
    value: {attribute: false},
    depth: {type: Number},
    _toggled: {state: true},
    _shown: {state: true},
  };

  static styles = [base, buttons, css`
    :host { position: relative; white-space: normal; font-family: var(--ac-font-mono); font-size: var(--ac-text-s); line-height: 1.6; overflow-x: auto; }
    ul { padding-inline-start: var(--ac-space-4); border-inline-start: 1px solid var(--ac-border); margin-inline-start: 0.3rem; }
    summary { cursor: pointer; list-style: none; border-radius: var(--ac-radius-s); width: fit-content; max-width: 100%; }
    summary::-webkit-details-marker { display: none; }
    summary::before { content: '▸'; display: inline-block; width: 1rem; color: var(--ac-text-muted); transition: rotate var(--ac-motion); }
    details[open] > summary::before { rotate: 90deg; }
    summary:hover { background: var(--ac-hover); }
    .leaf { padding-inline-start: 1rem; overflow-wrap: anywhere; }
    .name { color: var(--ac-code-name); }
    .string { color: var(--ac-code-string); white-space: pre-wrap; }
    .number, .boolean { color: var(--ac-code-number); }
    .null { color: var(--ac-code-keyword); }
    .preview { color: var(--ac-text-muted); }
    button { font-family: var(--ac-font-sans); }
  `];

  constructor() {
    super();
    /** @type {any} */
    this.value = undefined;
    this.depth = 2;
    /** @type {Map<string, boolean>} What the user expanded and collapsed, by path. */
    this._toggled = new Map();
    /** @type {Map<string, number>} How much of a long list or text is shown, by path. */
    this._shown = new Map();
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (!changed.has('value')) return;
    this._toggled = new Map();
    this._shown = new Map();
  }

  render() {
    return this._node('', this.value, '$', 0);
  }

  /** @param {string} name @param {any} value @param {string} path @param {number} level @returns {unknown} */
  _node(name, value, path, level) {
    const label = name === '' ? nothing : html`<span class="name">${name}</span>: `;
    if (value === null || typeof value !== 'object') return html`<div class="leaf">${label}${this._leaf(value, path)}</div>`;
    const entries = Object.entries(value);
    if (entries.length === 0) return html`<div class="leaf">${label}<span class="preview">${Array.isArray(value) ? '[]' : '{}'}</span></div>`;
    const isOpen = this._toggled.get(path) ?? (level < this.depth && (level === 0 || entries.length <= SMALL));
    return html`
      <details ?open=${isOpen} @toggle=${(/** @type {Event} */ event) => this._onToggle(event, path)}>
        <summary>${label}<span class="preview">${isOpen ? count(value, entries.length) : preview(value, entries)}</span></summary>
        ${isOpen ? this._children(entries, path, level) : nothing}
      </details>`;
  }

  /** @param {[string, any][]} entries @param {string} path @param {number} level */
  _children(entries, path, level) {
    const shown = this._shown.get(path) ?? CHUNK;
    const left = entries.length - shown;
    return html`
      <ul>
        ${entries.slice(0, shown).map(([name, value]) => html`<li>${this._node(name, value, `${path}/${name}`, level + 1)}</li>`)}
        ${left > 0 ? html`<li><button class="small quiet" @click=${() => this._show(path, shown + CHUNK)}>
          ${t('ui.showMore', {n: Math.min(left, CHUNK), left})}</button></li>` : nothing}
      </ul>`;
  }

  /** @param {any} value @param {string} path */
  _leaf(value, path) {
    if (value === undefined) return nothing;
    if (typeof value !== 'string') return html`<span class=${value === null ? 'null' : typeof value}>${String(value)}</span>`;
    const isCut = value.length > TEXT_CHARS && !this._shown.has(path);
    return html`<span class="string">${JSON.stringify(isCut ? value.slice(0, TEXT_CHARS) : value)}</span>${isCut ? html`
      <button class="small quiet" @click=${() => this._show(path, value.length)}>${t('ui.wholeText', {n: value.length})}</button>` : nothing}`;
  }

  /** @param {Event} event @param {string} path */
  _onToggle(event, path) {
    this._toggled = new Map(this._toggled).set(path, /** @type {HTMLDetailsElement} */ (event.target).open);
  }

  /** @param {string} path @param {number} n */
  _show(path, n) {
    this._shown = new Map(this._shown).set(path, n);
  }
}
customElements.define('ac-json-tree', AcJsonTree);

/** @param {object} value @param {number} n */
const count = (value, n) => (Array.isArray(value) ? `[${n}]` : `{${n}}`);

/** @param {object} value @param {[string, any][]} entries */
function preview(value, entries) {
  const brief = (/** @type {any} */ part) => {
    if (part !== null && typeof part === 'object') return Array.isArray(part) ? '[…]' : '{…}';
    return typeof part === 'string' ? JSON.stringify(part.length > 24 ? `${part.slice(0, 24)}…` : part) : String(part);
  };
  const shown = entries.slice(0, PREVIEW_KEYS).map(([name, part]) => (Array.isArray(value) ? brief(part) : `${name}: ${brief(part)}`));
  const text = `${shown.join(', ')}${entries.length > PREVIEW_KEYS ? ', …' : ''}`;
  return Array.isArray(value) ? `[${text}] ${entries.length}` : `{${text}}`;
}
