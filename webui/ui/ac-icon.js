import {LitElement, css, nothing, svg} from 'lit';
import {icons} from '../vendor/lucide.js';

/**
 * One icon by its name. It is decorative: its meaning is in the text beside it, or in the name of the button around it.
 */
export class AcIcon extends LitElement {
  static properties = {name: {}};

  static styles = css`
    :host { display: inline-flex; flex: none; width: 1.125em; height: 1.125em; vertical-align: -0.2em; }
    svg { width: 100%; height: 100%; fill: none; stroke: currentColor; stroke-width: 1.75; stroke-linecap: round; stroke-linejoin: round; }
    @media (prefers-reduced-motion: no-preference) {
      :host([name="loader-circle"]) svg { animation: turn 1s linear infinite; }
    }
    @keyframes turn { to { transform: rotate(1turn); } }
  `;

  constructor() {
    super();
    this.name = '';
  }

  connectedCallback() {
    super.connectedCallback();
    this.ariaHidden = 'true';
  }

  render() {
    const shapes = icons[this.name];
    if (!shapes) return nothing;
    return svg`<svg viewBox="0 0 24 24">${shapes.map(shape)}</svg>`;
  }
}

/** Return true if the page has an icon of this name. @param {string} name */
export function hasIcon(name) {
  return Object.hasOwn(icons, name);
}

/** @param {[string, Record<string, string>]} shape */
function shape([tag, values]) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(values)) element.setAttribute(name, value);
  return element;
}

customElements.define('ac-icon', AcIcon);
