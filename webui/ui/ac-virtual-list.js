import {LitElement, css, html} from 'lit';
import {repeat} from 'lit/directives/repeat.js';
import {base} from './styles.js';

/** Maximum height of the list, because browsers limit elements to about 33 million pixels; a longer list moves faster than its scroll bar. */
const LONGEST_PX = 16_000_000;
const AROUND = 8;
const FOLLOWED_ROWS = 500;

/**
 * A list of any length that renders only the rows in view. It is one tab stop; arrow keys, Page Up and Down, Home and End
 * move inside, Enter opens.
 *
 * @fires ac-open {index: number}
 * @fires ac-scroll {isAtTop: boolean}  when it reaches or leaves the top
 */
export class AcVirtualList extends LitElement {
  static properties = {
    count: {attribute: false},
    rowHeight: {attribute: false},
    renderRow: {attribute: false},
    keyOf: {attribute: false},
    label: {},
    version: {attribute: false},
    selected: {attribute: false},
    _first: {state: true},
    _last: {state: true},
    _active: {state: true},
  };

  static styles = [base, css`
    :host { position: relative; overflow: auto; overflow-anchor: none; contain: strict; outline-offset: -2px; }
    .space { position: relative; overflow: clip; min-height: 100%; }
    .row { position: absolute; inset: 0 0 auto 0; contain: layout style; cursor: pointer; }
    .row:hover { background: var(--ac-hover); }
    .row[aria-selected="true"] { background: var(--ac-accent-soft); }
    .row:focus-visible { outline-offset: -2px; z-index: 1; }
  `];

  constructor() {
    super();
    this.count = 0;
    this.rowHeight = 40;
    /** @type {(index: number) => unknown} */
    this.renderRow = () => '';
    /** Returns the key of a row, so that its element is reused when rows are inserted before it. @type {(index: number) => unknown} */
    this.keyOf = (index) => index;
    this.label = '';
    /** Changes when the rows change. @type {unknown} */
    this.version = 0;
    /** Index of the open row. */
    this.selected = -1;
    this._first = 0;
    this._last = 0;
    this._active = 0;
    /** @type {unknown} */
    this._activeKey = undefined;
    this._wasAtTop = true;
    this._onScroll = this._onScroll.bind(this);
    this._sizes = new ResizeObserver(() => this._look());
  }

  connectedCallback() {
    super.connectedCallback();
    this.addEventListener('scroll', this._onScroll, {passive: true});
    this._sizes.observe(this);
  }

  disconnectedCallback() {
    this._sizes.disconnect();
    this.removeEventListener('scroll', this._onScroll);
    super.disconnectedCallback();
  }

  get _height() {
    return Math.min(this.count * this.rowHeight, LONGEST_PX);
  }

  /** Number of list pixels per pixel of the scroll bar. */
  get _scale() {
    const whole = this.count * this.rowHeight;
    return whole <= LONGEST_PX ? 1 : (whole - this.clientHeight) / (LONGEST_PX - this.clientHeight);
  }

  render() {
    const last = Math.min(this._last, this.count);
    const indexes = Array.from({length: Math.max(0, last - this._first)}, (_, place) => this._first + place);
    return html`
      <div class="space" role="listbox" aria-label=${this.label} @keydown=${this._onKey} @click=${this._onClick}>
        ${repeat(indexes, this.keyOf, (index) => html`
          <div class="row" role="option" aria-setsize=${this.count} aria-posinset=${index + 1} data-index=${index}
            tabindex=${index === this._active ? 0 : -1} aria-selected=${index === this.selected ? 'true' : 'false'}>${this.renderRow(index)}</div>`)}
      </div>`;
  }

  willUpdate() {
    this._measure();
    this._active = this._followed();
    this._activeKey = this.count ? this.keyOf(this._active) : undefined;
  }

  /** Return the index of the active row, because others may have been inserted before it. */
  _followed() {
    const last = Math.max(0, this.count - 1);
    if (this._activeKey === undefined || this._active > last) return Math.min(this._active, last);
    for (let index = this._active; index <= Math.min(last, this._active + FOLLOWED_ROWS); index++) {
      if (this.keyOf(index) === this._activeKey) return index;
    }
    return this._active;
  }

  updated() {
    const space = /** @type {HTMLElement} */ (this.renderRoot.querySelector('.space'));
    space.style.height = `${this._height}px`;
    const shift = this.scrollTop * (1 - this._scale);
    for (const row of /** @type {NodeListOf<HTMLElement>} */ (this.renderRoot.querySelectorAll('.row'))) {
      row.style.height = `${this.rowHeight}px`;
      row.style.transform = `translateY(${Number(row.dataset.index) * this.rowHeight + shift}px)`;
    }
  }

  /** Scroll to the newest row. */
  toTop() {
    this.scrollTop = 0;
    this._look();
  }

  /** Focus a row. @param {number} index */
  async focusRow(index) {
    this._activate(Math.max(0, Math.min(index, this.count - 1)));
    this._reveal(this._active);
    this._look();
    await this.updateComplete;
    /** @type {HTMLElement | null} */ (this.renderRoot.querySelector(`[data-index="${this._active}"]`))?.focus({preventScroll: true});
  }

  /** @param {number} index */
  _activate(index) {
    this._active = index;
    this._activeKey = undefined;
  }

  _onScroll() {
    this._look();
    const isAtTop = this.scrollTop < this.rowHeight / 2;
    if (isAtTop === this._wasAtTop) return;
    this._wasAtTop = isAtTop;
    this.dispatchEvent(new CustomEvent('ac-scroll', {detail: {isAtTop}}));
  }

  _look() {
    this._measure();
    if (this._scale !== 1) this.requestUpdate();
  }

  _measure() {
    const top = (this.scrollTop * this._scale) / this.rowHeight;
    this._first = Math.max(0, Math.floor(top) - AROUND);
    this._last = Math.ceil(top + this.clientHeight / this.rowHeight) + AROUND;
  }

  /** @param {number} index */
  _reveal(index) {
    const top = (index * this.rowHeight) / this._scale;
    if (top < this.scrollTop) this.scrollTop = top;
    else if (top + this.rowHeight > this.scrollTop + this.clientHeight) this.scrollTop = top + this.rowHeight - this.clientHeight;
  }

  /** @param {KeyboardEvent} event */
  _onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.clientHeight / this.rowHeight) - 1);
    const step = {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity}[event.key];
    if (step !== undefined) {
      event.preventDefault();
      void this.focusRow(this._active + step);
    } else if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      this._open(this._active);
    }
  }

  /** @param {MouseEvent} event */
  _onClick(event) {
    const row = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest('.row'));
    if (!row) return;
    this._activate(Number(row.dataset.index));
    this._open(this._active);
  }

  /** @param {number} index */
  _open(index) {
    this.dispatchEvent(new CustomEvent('ac-open', {detail: {index}}));
  }
}

customElements.define('ac-virtual-list', AcVirtualList);
