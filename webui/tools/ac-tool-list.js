import {LitElement, css, html, nothing} from 'lit';
import {live} from 'lit/directives/live.js';
import {repeat} from 'lit/directives/repeat.js';
import {search} from '../base/fuzzy.js';
import {Localized, t} from '../base/i18n.js';
import {isComposing} from '../base/input-method.js';
import {href} from '../base/router.js';
import {firstSentence} from '../base/first-sentence.js';
import {base, buttons, fields} from '../ui/styles.js';
import '../ui/ac-icon.js';
import './ac-tool-effects.js';
import './ac-tool-icon.js';

/** @typedef {import('../client/tool-list.js').Tool} Tool */
/** @typedef {{thing: Tool, positions: number[][]}} Found */

/**
 * All tools, grouped by module, or those that match the query, best match first. Arrow keys move from the search field through
 * the list; `/` focuses the search field from anywhere.
 * @fires ac-query {query: string}
 */
export class AcToolList extends Localized(LitElement) {
  static properties = {
    tools: {attribute: false},
    selected: {},
    query: {},
  };

  static styles = [base, buttons, fields, css`
    :host { display: flex; flex-direction: column; min-height: 0; }
    .find { position: sticky; top: 0; z-index: 1; padding: var(--ac-space-4) var(--ac-space-3) var(--ac-space-2); background: var(--ac-bg); display: grid; gap: var(--ac-space-1); }
    .box { position: relative; }
    .box ac-icon { position: absolute; top: 0.5rem; left: 0.625rem; color: var(--ac-text-muted); pointer-events: none; }
    .box kbd { position: absolute; top: 0.375rem; right: 0.5rem; padding: 0 0.375rem; border: 1px solid var(--ac-border); border-radius: var(--ac-radius-s); color: var(--ac-text-muted); font-size: var(--ac-text-xs); background: var(--ac-surface-sunken); }
    .box:focus-within kbd { display: none; }
    input { width: 100%; padding-inline-start: 2.125rem; border-color: var(--ac-border-strong); }
    .lists { padding: 0 var(--ac-space-2) var(--ac-space-5); }
    h2 { padding: var(--ac-space-3) var(--ac-space-2) var(--ac-space-1); font-size: var(--ac-text-xs); font-weight: var(--ac-weight-medium); color: var(--ac-text-muted); letter-spacing: 0; }
    a { scroll-margin: 4rem; display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 0 var(--ac-space-2); padding: var(--ac-space-2); border-radius: var(--ac-radius-m); color: var(--ac-text); text-decoration: none; }
    a:hover { background: var(--ac-hover); color: var(--ac-text); }
    a[aria-current] { background: var(--ac-accent-soft); }
    a:focus-visible { outline-offset: -2px; }
    .name { font-family: var(--ac-font-mono); font-size: var(--ac-text-s); font-weight: var(--ac-weight-medium); overflow-wrap: anywhere; }
    .about { grid-column: 1 / -1; color: var(--ac-text-muted); font-size: var(--ac-text-s); white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
    mark { background: none; color: var(--ac-accent); font-weight: var(--ac-weight-bold); }
    .none { padding: var(--ac-space-5) var(--ac-space-3); text-align: center; color: var(--ac-text-muted); display: grid; gap: var(--ac-space-3); justify-items: center; }
  `];

  constructor() {
    super();
    /** @type {Tool[]} */
    this.tools = [];
    this.selected = '';
    this.query = '';
    this._onSlash = this._onSlash.bind(this);
  }

  connectedCallback() {
    super.connectedCallback();
    window.addEventListener('keydown', this._onSlash);
  }

  disconnectedCallback() {
    window.removeEventListener('keydown', this._onSlash);
    super.disconnectedCallback();
  }

  /** @param {Map<string, unknown>} changed */
  updated(changed) {
    if (changed.has('selected')) this.renderRoot.querySelector('[aria-current]')?.scrollIntoView({block: 'nearest'});
  }

  render() {
    const found = search(this.query, this.tools, ({name, description, module}) => [name, firstSentence(description), module, description]);
    return html`
      <div class="find">
        <div class="box" role="search">
          <ac-icon name="search"></ac-icon>
          <input type="search" .value=${live(this.query)} placeholder=${t('tools.search')} aria-label=${t('tools.search')}
            title=${t('tools.searchHint')} autocomplete="off" spellcheck="false" @input=${this._onInput} @keydown=${this._onInputKey}>
          ${this.query ? nothing : html`<kbd aria-hidden="true">/</kbd>`}
        </div>
        <span class="visually-hidden" role="status">${this.query ? t('tools.found', {n: found.length}) : ''}</span>
      </div>
      <div class="lists" @keydown=${this._onListKey}>${this._renderLists(found)}</div>`;
  }

  /** @param {Found[]} found */
  _renderLists(found) {
    if (!found.length) return this._renderNone();
    const first = this.selected && found.some(({thing}) => thing.name === this.selected) ? this.selected : found[0].thing.name;
    const row = (/** @type {Found} */ one) => this._renderTool(one, one.thing.name === first);
    if (this.query.trim()) return html`<ul aria-label=${t('tools.title')}>${repeat(found, ({thing}) => thing.name, row)}</ul>`;
    const modules = [...new Set(found.map(({thing}) => thing.module))];
    return repeat(modules, (name) => name, (name) => html`
      <h2 id="of-${name}">${name}</h2>
      <ul aria-labelledby="of-${name}">${repeat(found.filter(({thing}) => thing.module === name), ({thing}) => thing.name, row)}</ul>`);
  }

  /** Render a tool's link; only one is in the tab order, the others are reached with arrow keys. @param {Found} found @param {boolean} isFirst */
  _renderTool({thing: {name, description, effects, icons, module}, positions}, isFirst) {
    const query = this.query.trim();
    return html`
      <li><a href=${href(['tools', name], {q: query})} aria-current=${name === this.selected ? 'page' : nothing} tabindex=${isFirst ? 0 : -1}>
        <span class="name"><ac-tool-icon .icons=${icons}></ac-tool-icon>${marked(name, positions[0])}</span>
        <ac-tool-effects brief .effects=${effects}></ac-tool-effects>
        <span class="about">${query ? html`${marked(module, positions[2])} · ` : nothing}${marked(firstSentence(description), positions[1])}</span>
      </a></li>`;
  }

  _renderNone() {
    return html`<div class="none"><p>${t('tools.noneFound', {query: this.query})}</p>
      <button class="small" @click=${() => this._ask('')}>${t('tools.clearSearch')}</button></div>`;
  }

  get _links() {
    return /** @type {HTMLElement[]} */ ([...this.renderRoot.querySelectorAll('a')]);
  }

  get _input() {
    return /** @type {HTMLInputElement} */ (this.renderRoot.querySelector('input'));
  }

  /** @param {string} query */
  _ask(query) {
    this.query = query;
    this.dispatchEvent(new CustomEvent('ac-query', {detail: {query}, bubbles: true, composed: true}));
  }

  /** @param {Event} event */
  _onInput(event) {
    this._ask(/** @type {HTMLInputElement} */ (event.target).value);
  }

  /** @param {KeyboardEvent} event */
  _onInputKey(event) {
    if (isComposing(event)) return;
    if (event.key === 'ArrowDown') this._links[0]?.focus();
    else if (event.key === 'Enter') this._links[0]?.click();
    else if (event.key === 'Escape' && this.query) this._ask('');
    else return;
    event.preventDefault();
  }

  /** @param {KeyboardEvent} event */
  _onListKey(event) {
    const links = this._links;
    const at = links.indexOf(/** @type {HTMLElement} */ (/** @type {ShadowRoot} */ (this.renderRoot).activeElement));
    /** @type {Record<string, HTMLElement | undefined>} */
    const goals = {ArrowDown: links[at + 1], ArrowUp: links[at - 1] ?? this._input, Home: links[0], End: links.at(-1)};
    if (at < 0 || !(event.key in goals)) return;
    event.preventDefault();
    goals[event.key]?.focus();
  }

  /** @param {KeyboardEvent} event */
  _onSlash(event) {
    const at = event.composedPath()[0];
    const isTyping = at instanceof HTMLElement && at.matches('input, textarea, select, [contenteditable]');
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this._input.select();
    this._input.focus();
  }
}
customElements.define('ac-tool-list', AcToolList);

/** Render a text with the matched characters marked. @param {string} text @param {number[]} [positions] */
function marked(text, positions = []) {
  if (!positions.length) return text;
  const hits = new Set(positions);
  /** @type {{isHit: boolean, text: string}[]} */
  const parts = [];
  for (let at = 0; at < text.length; at += 1) {
    const last = parts.at(-1);
    if (last && last.isHit === hits.has(at)) last.text += text[at];
    else parts.push({isHit: hits.has(at), text: text[at]});
  }
  return parts.map((part) => (part.isHit ? html`<mark>${part.text}</mark>` : part.text));
}
