import {LitElement, css, html, nothing} from 'lit';
import {chatTitle, outcomeText} from './labels.js';
import {client} from '../client/client.js';
import {Localized, t} from '../base/i18n.js';
import {Listening} from '../base/subscriptions.js';
import {moduleList} from '../client/module-list.js';
import {base, buttons, fields} from '../ui/styles.js';
import '../ui/ac-icon.js';

/** @typedef {import('./call-log.js').CallFilter} CallFilter */

const TYPING_MS = 200;
const OUTCOMES = [
  'ok', 'failed', 'invalid_arguments', 'timeout', 'cancelled', 'approval_denied', 'approval_required', 'interrupted',
  'internal_error', 'module_stopping', 'resource_not_found', 'unknown_tool',
];

/** Search field and filters of the call log.  @fires ac-filter {filter: CallFilter} */
export class AcFilterBar extends Localized(LitElement) {
  static properties = {
    filter: {attribute: false},
    sessions: {attribute: false},
    _tools: {state: true},
    _isOpen: {state: true},
  };

  static styles = [base, buttons, fields, css`
    :host { container: filters / inline-size; }
    .bar { display: flex; flex-wrap: wrap; gap: var(--ac-space-2); align-items: center; }
    .search { position: relative; flex: 1 1 14rem; min-width: 0; }
    .search ac-icon { position: absolute; inset: 0 auto 0 var(--ac-space-3); margin-block: auto; color: var(--ac-text-muted); pointer-events: none; }
    .search input { width: 100%; padding-inline-start: calc(var(--ac-space-3) * 2 + 1rem); }
    .more { display: contents; }
    .more > * { flex: 0 1 10rem; min-width: 6rem; text-overflow: ellipsis; }
    .more > .set { border-color: var(--ac-accent); background: var(--ac-accent-soft); }
    .toggle { display: none; }
    .clear { flex: none; }
    @container filters (max-width: 50rem) {
      .toggle { display: inline-flex; }
      .more { display: none; }
      .more.open { display: grid; grid-template-columns: 1fr 1fr; gap: var(--ac-space-2); width: 100%; }
    }
  `];

  constructor() {
    super();
    /** @type {CallFilter} */
    this.filter = {};
    /** Suggested session IDs. @type {string[]} */
    this.sessions = [];
    /** @type {string[]} */
    this._tools = [];
    this._isOpen = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this._timer = undefined;
    new Listening(this, () => [
      moduleList.subscribe(() => this.requestUpdate()),
      client.on('tools.changed', () => void this._loadTools()),
      () => clearTimeout(this._timer),
    ]);
  }

  connectedCallback() {
    super.connectedCallback();
    void this._loadTools();
  }

  render() {
    const {q, ...others} = this.filter;
    const set = Object.values(others).filter(Boolean).length;
    return html`
      <div class="bar" role="search">
        <div class="search">
          <ac-icon name="search"></ac-icon>
          <input type="search" .value=${q ?? ''} placeholder=${t('activity.search')} aria-label=${t('activity.search')}
            autocomplete="off" spellcheck="false" maxlength="200" @input=${this._onSearch}>
        </div>
        <button class="toggle" aria-expanded=${this._isOpen} aria-controls="more" @click=${() => { this._isOpen = !this._isOpen; }}>
          <ac-icon name="funnel"></ac-icon>${set ? t('activity.activeFilters', {n: set}) : t('activity.filters')}
        </button>
        <div id="more" class="more ${this._isOpen ? 'open' : ''}">
          ${this._typed('tool', this._tools, t('activity.anyTool'))}
          ${this._chosen('module', moduleList.modules.map(({name}) => name), (name) => name, t('activity.anyModule'))}
          ${this._typed('session_id', this.sessions, t('activity.anySession'))}
          ${this.filter.client ? this._typed('client', [], t('activity.anyClient')) : nothing}
          ${this._chosen('outcome', OUTCOMES, outcomeText, t('activity.anyOutcome'))}
          ${this._chosen('kind', ['decision', 'notice', 'all'], (name) => t(`activity.kind.${name}`), t('activity.kind.call'))}
          ${set || q ? html`<button class="quiet clear" @click=${() => this._fire({})}><ac-icon name="x"></ac-icon>${t('activity.clearFilters')}</button>` : nothing}
        </div>
      </div>`;
  }

  /** @param {'tool' | 'session_id' | 'client'} key @param {string[]} known @param {string} any */
  _typed(key, known, any) {
    const value = this.filter[key] ?? '';
    return html`
      <input class=${value ? 'set' : ''} list=${key} .value=${value} placeholder=${any} aria-label=${t(`activity.${key === 'session_id' ? 'session' : key}`)}
        autocomplete="off" spellcheck="false" @change=${(/** @type {Event} */ event) => this._set(key, event)}>
      <datalist id=${key}>${known.map((name) => html`<option value=${name} label=${(key === 'session_id' && chatTitle(name)) || nothing}></option>`)}</datalist>`;
  }

  /** @param {'module' | 'outcome' | 'kind'} key @param {string[]} known @param {(name: string) => string} text @param {string} any */
  _chosen(key, known, text, any) {
    const value = this.filter[key] ?? '';
    const choices = value && !known.includes(value) ? [value, ...known] : known;
    return html`
      <select class=${value ? 'set' : ''} aria-label=${t(`activity.${key}`)} @change=${(/** @type {Event} */ event) => this._set(key, event)}>
        <option value="" ?selected=${!value}>${any}</option>
        ${choices.map((name) => html`<option value=${name} ?selected=${name === value}>${text(name)}</option>`)}
      </select>`;
  }

  async _loadTools() {
    try {
      const {tools} = await client.get('/api/tools');
      this._tools = tools.map((/** @type {{name: string}} */ {name}) => name);
    } catch {
      // suggestions are optional; any name can be typed
    }
  }

  /** @param {Event} event */
  _onSearch(event) {
    const {value} = /** @type {HTMLInputElement} */ (event.target);
    clearTimeout(this._timer);
    this._timer = setTimeout(() => this._fire({...this.filter, q: value.trim()}), TYPING_MS);
  }

  /** @param {keyof CallFilter} key @param {Event} event */
  _set(key, event) {
    this._fire({...this.filter, [key]: /** @type {HTMLInputElement | HTMLSelectElement} */ (event.target).value.trim()});
  }

  /** @param {CallFilter} filter */
  _fire(filter) {
    clearTimeout(this._timer);
    const given = Object.fromEntries(Object.entries(filter).filter(([, value]) => value));
    this.dispatchEvent(new CustomEvent('ac-filter', {detail: {filter: given}}));
  }
}

customElements.define('ac-filter-bar', AcFilterBar);
