import {LitElement, css, html, nothing} from 'lit';
import {onElsewhere} from './outside-press.js';
import {base, buttons} from '../styles.js';
import '../ac-icon.js';

/**
 * One action.
 * @typedef {object} MenuItem
 * @property {string} label
 * @property {string} [icon]
 * @property {boolean} [isChecked]  makes it a checkbox item
 * @property {boolean} [isChosen]  makes it a radio item
 * @property {boolean} [isOff]
 * @property {boolean} [isApart]  has a separator above it
 * @property {() => void} run
 */

const EDGE_PX = 8;

/**
 * A menu of actions, opened next to an element: `menu.open(items, anchor, label)`.
 */
export class AcMenu extends LitElement {
  static properties = {
    _items: {state: true},
    _label: {state: true},
  };

  static styles = [base, buttons, css`
    :host { display: contents; }
    .menu {
      position: fixed; inset: auto; margin: 0; padding: var(--ac-space-1); width: max-content; min-width: 13rem; max-width: min(22rem, calc(100vw - 1rem));
      max-height: min(28rem, 80dvh); overflow: auto; border: 1px solid var(--ac-border); border-radius: var(--ac-radius-l);
      background: var(--ac-surface-raised); color: var(--ac-text); box-shadow: var(--ac-shadow-l);
    }
    .menu:popover-open { display: grid; grid-template-columns: minmax(0, 1fr); }
    button {
      justify-content: flex-start; min-height: 2.25rem; padding: 0 var(--ac-space-3) 0 var(--ac-space-2); border: 0;
      background: none; box-shadow: none; font-weight: inherit;
    }
    button > span:last-child { overflow: hidden; text-overflow: ellipsis; line-height: 1.5; }
    button:is(:hover, :focus-visible):not(:disabled) { background: var(--ac-hover); }
    button:disabled { background: none; }
    button:focus-visible { outline-offset: -2px; }
    .icon { display: inline-flex; flex: none; width: 1.25rem; color: var(--ac-text-muted); }
    hr { margin: var(--ac-space-1) 0; border: 0; border-top: 1px solid var(--ac-border); }
  `];

  constructor() {
    super();
    /** @type {MenuItem[]} */
    this._items = [];
    this._label = '';
    /** @type {HTMLElement | null} */
    this._anchor = null;
    /** @type {AbortController | null} what removes the listeners that are active while it is open */
    this._opened = null;
    this.isOpen = false;
  }

  /** Change the items of the menu if it is open; without items, it closes. @param {MenuItem[]} items */
  async change(items) {
    if (!this.isOpen) return;
    if (!items.length) return this._close();
    const hadFocus = Boolean(this.shadowRoot?.activeElement);
    this._items = items;
    await this.updateComplete;
    // an item that is turned off loses the focus
    if (hadFocus && this.isOpen && !this.shadowRoot?.activeElement?.matches(':enabled')) this._buttons()[0]?.focus();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this._opened?.abort();
    this.isOpen = false;
  }

  render() {
    return html`
      <div class="menu" popover="manual" role="menu" aria-label=${this._label} @keydown=${this._onKey}>
        ${this._items.map((item) => this._renderItem(item))}
      </div>`;
  }

  /** @param {MenuItem} item */
  _renderItem(item) {
    const isOn = item.isChecked ?? item.isChosen;
    const role = item.isChecked !== undefined ? 'menuitemcheckbox' : item.isChosen !== undefined ? 'menuitemradio' : 'menuitem';
    const icon = isOn === undefined ? item.icon : isOn ? 'check' : '';
    return html`
      ${item.isApart ? html`<hr>` : nothing}
      <button role=${role} aria-checked=${isOn === undefined ? nothing : String(isOn)} tabindex="-1" ?disabled=${item.isOff} @click=${() => this._run(item)}>
        <span class="icon">${icon ? html`<ac-icon name=${icon}></ac-icon>` : nothing}</span><span>${item.label}</span>
      </button>`;
  }

  /**
   * Show the menu below an element, to which the focus returns later.
   * @param {MenuItem[]} items
   * @param {HTMLElement} anchor
   * @param {string} label
   */
  async open(items, anchor, label) {
    this._items = items;
    this._label = label;
    this._anchor = anchor;
    this.isOpen = true;
    await this.updateComplete;
    if (!this.isOpen) return;
    const menu = this._menu;
    if (!menu.matches(':popover-open')) menu.showPopover();
    this._opened?.abort();
    this._opened = onElsewhere([menu], () => this._hide());
    const {left, bottom} = anchor.getBoundingClientRect();
    menu.style.left = `${Math.max(EDGE_PX, Math.min(left, innerWidth - menu.offsetWidth - EDGE_PX))}px`;
    menu.style.top = `${Math.max(EDGE_PX, Math.min(bottom + EDGE_PX / 2, innerHeight - menu.offsetHeight - EDGE_PX))}px`;
    const buttons = this._buttons();
    (buttons.find((button) => button.role === 'menuitemradio' && button.ariaChecked === 'true') ?? buttons[0])?.focus();
  }

  get _menu() {
    return /** @type {HTMLElement} */ (this.renderRoot.querySelector('.menu'));
  }

  /** @returns {HTMLElement[]} */
  _buttons() {
    return [.../** @type {NodeListOf<HTMLElement>} */ (this._menu.querySelectorAll('button:not(:disabled)'))];
  }

  _hide() {
    this.isOpen = false;
    this._opened?.abort();
    this._menu.hidePopover();
  }

  _close() {
    this._hide();
    this._anchor?.focus();
  }

  /** @param {MenuItem} item */
  _run(item) {
    this._close();
    item.run();
  }

  /** @param {KeyboardEvent} event */
  _onKey(event) {
    const items = this._buttons();
    const at = items.indexOf(/** @type {HTMLElement} */ (this.shadowRoot?.activeElement));
    const wanted = {ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1}[event.key];
    event.stopPropagation(); // the keys are for the menu only, not for what is around it
    if (event.key === 'Escape' || event.key === 'Tab') {
      event.preventDefault();
      return this._close();
    }
    if (wanted === undefined) return;
    event.preventDefault();
    items[(wanted + items.length) % items.length]?.focus();
  }
}
customElements.define('ac-menu', AcMenu);
