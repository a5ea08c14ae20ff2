import {LitElement, css, html, nothing} from 'lit';
import {onElsewhere} from './outside-press.js';
import {base, buttons} from '../styles.js';
import '../ac-icon.js';

/** @typedef {{value: string, label: string, text?: string, isOff?: boolean, group?: string}} Choice  choices of one group follow each other */

const EDGE_PX = 8;

/**
 * Menu to select one of a few choices, which opens above or below its button.
 * @slot  Content below the choices, such as a link to settings.
 * @fires ac-choose {value: string}
 * @fires ac-opened  choices may be loaded now
 */
export class AcChoiceMenu extends LitElement {
  static properties = {
    choices: {attribute: false},
    value: {attribute: false},
    label: {},
    icon: {},
    shown: {},
    isWarning: {type: Boolean, attribute: 'warning'},
    _isOpen: {state: true},
  };

  static styles = [base, buttons, css`
    :host { display: inline-flex; min-width: 0; }
    .opener { max-width: 100%; color: var(--ac-text-muted); font-weight: inherit; }
    .opener > span { overflow: hidden; text-overflow: ellipsis; line-height: 1.5; }
    .opener.warning { color: var(--ac-warn); }
    .opener ac-icon:last-child { width: 0.875rem; height: 0.875rem; }
    @media (max-width: 48rem) { .opener ac-icon:last-child { display: none; } }
    @media (max-width: 30rem) { .opener { gap: var(--ac-space-1); padding-inline: var(--ac-space-1); } }
    .menu { position: fixed; inset: auto; margin: 0; padding: var(--ac-space-1); width: min(24rem, calc(100vw - 1rem)); max-height: min(38rem, 80dvh); overflow: auto; border: 1px solid var(--ac-border); border-radius: var(--ac-radius-l); background: var(--ac-surface-raised); color: var(--ac-text); box-shadow: var(--ac-shadow-l); }
    .choice { display: grid; grid-template-columns: 1.25rem minmax(0, 1fr); align-items: start; justify-content: start; gap: 0 var(--ac-space-2); width: 100%; min-height: 0; padding: var(--ac-space-2); border: 0; background: none; box-shadow: none; text-align: start; line-height: var(--ac-line); white-space: normal; font-weight: inherit; }
    .choice strong { font-weight: var(--ac-weight-medium); overflow-wrap: anywhere; }
    .choice small { grid-column: 2; color: var(--ac-text-muted); font-size: var(--ac-text-s); }
    .group { padding: var(--ac-space-2) var(--ac-space-2) var(--ac-space-1); color: var(--ac-text-muted); font-size: var(--ac-text-s); overflow-wrap: anywhere; }
    .choice:is(:hover, :focus-visible):not(:disabled) { background: var(--ac-hover); }
    .choice:focus-visible { outline-offset: -2px; }
    .choice ac-icon { color: var(--ac-accent); margin-top: 0.125rem; }
  `];

  constructor() {
    super();
    /** @type {Choice[]} */
    this.choices = [];
    this.value = '';
    /** Name of what is chosen here. */
    this.label = '';
    this.icon = '';
    /** Text of the button; default: the chosen label. */
    this.shown = '';
    this.isWarning = false;
    this._isOpen = false;
    /** @type {AbortController | null} what removes the listeners that are active while it is open */
    this._opened = null;
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this._opened?.abort();
    this._isOpen = false;
  }

  render() {
    const chosen = this.choices.find(({value}) => value === this.value);
    const shown = this.shown || chosen?.label || this.value;
    return html`
      <button class="opener quiet small ${this.isWarning ? 'warning' : ''}" aria-haspopup="menu" aria-expanded=${this._isOpen} aria-label="${this.label}: ${shown}"
        title=${this.label} @click=${this._toggle}>
        ${this.icon ? html`<ac-icon name=${this.icon}></ac-icon>` : nothing}<span>${shown}</span><ac-icon name="chevron-down"></ac-icon>
      </button>
      <div class="menu" popover="manual" role="menu" aria-label=${this.label} @keydown=${this._onKey}>
        ${this._groups.map(({name, choices}) => (name
          ? html`<div role="group" aria-label=${name}><div class="group" aria-hidden="true">${name}</div>${choices.map((choice) => this._renderChoice(choice))}</div>`
          : choices.map((choice) => this._renderChoice(choice))))}
        <slot @click=${this._close}></slot>
      </div>`;
  }

  /** The choices by group. @returns {{name: string, choices: Choice[]}[]} */
  get _groups() {
    /** @type {{name: string, choices: Choice[]}[]} */
    const groups = [];
    for (const choice of this.choices) {
      const name = choice.group ?? '';
      if (groups.at(-1)?.name !== name) groups.push({name, choices: []});
      groups.at(-1)?.choices.push(choice);
    }
    return groups;
  }

  /** @param {Choice} choice */
  _renderChoice({value, label, text, isOff}) {
    const isChosen = value === this.value;
    return html`
      <button class="choice" role="menuitemradio" aria-checked=${isChosen} tabindex=${isChosen ? 0 : -1} ?disabled=${isOff} @click=${() => this._choose(value)}>
        <span>${isChosen ? html`<ac-icon name="check"></ac-icon>` : nothing}</span><strong>${label}</strong>
        ${text ? html`<small>${text}</small>` : nothing}
      </button>`;
  }

  get _menu() {
    return /** @type {HTMLElement} */ (this.renderRoot.querySelector('.menu'));
  }

  get _opener() {
    return /** @type {HTMLElement} */ (this.renderRoot.querySelector('.opener'));
  }

  _toggle() {
    if (this._isOpen) return this._close();
    this._menu.showPopover();
    this._isOpen = true;
    this._opened = onElsewhere([this], () => this._close());
    this._place();
    this.dispatchEvent(new CustomEvent('ac-opened'));
    const items = this._items();
    (items.find((item) => item.getAttribute('aria-checked') === 'true') ?? items[0])?.focus();
  }

  _close() {
    this._opened?.abort();
    this._isOpen = false;
    this._menu.hidePopover();
  }

  /** Place the menu inside the window, above the button if there is more room. */
  _place() {
    const [button, menu] = [this._opener.getBoundingClientRect(), this._menu];
    const isAbove = button.top > innerHeight - button.bottom;
    menu.style.left = `${Math.max(EDGE_PX, Math.min(button.left, innerWidth - menu.offsetWidth - EDGE_PX))}px`;
    menu.style.top = isAbove ? 'auto' : `${button.bottom + EDGE_PX / 2}px`;
    menu.style.bottom = isAbove ? `${innerHeight - button.top + EDGE_PX / 2}px` : 'auto';
  }

  /** @returns {HTMLElement[]} */
  _items() {
    const own = /** @type {NodeListOf<HTMLElement>} */ (this._menu.querySelectorAll('.choice:not(:disabled)'));
    const slot = /** @type {HTMLSlotElement} */ (this._menu.querySelector('slot'));
    return [...own, .../** @type {HTMLElement[]} */ (slot.assignedElements())];
  }

  /** @param {KeyboardEvent} event */
  _onKey(event) {
    const items = this._items();
    const at = items.findIndex((item) => item === this.shadowRoot?.activeElement || item === document.activeElement || item.matches(':focus'));
    const wanted = {ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1}[event.key];
    if (event.key === 'Tab') return this._close();
    if (event.key === 'Escape') {
      event.preventDefault(); // close only the menu, and nothing around it
      this._close();
      return this._opener.focus();
    }
    if (wanted === undefined) return;
    event.preventDefault();
    items[(wanted + items.length) % items.length]?.focus();
  }

  /** @param {string} value */
  _choose(value) {
    this._close();
    this._opener.focus();
    if (value !== this.value) this.dispatchEvent(new CustomEvent('ac-choose', {detail: {value}}));
  }
}
customElements.define('ac-choice-menu', AcChoiceMenu);
