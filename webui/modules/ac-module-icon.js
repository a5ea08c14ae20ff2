import {LitElement, css, html} from 'lit';
import {hasIcon} from '../ui/ac-icon.js';

/** Icon of a module: its component's icon, by name or from the module's own file, else a default icon. */
export class AcModuleIcon extends LitElement {
  static properties = {module: {attribute: false}};

  static styles = css`
    :host { display: inline-flex; flex: none; width: 1.125em; height: 1.125em; }
    img, ac-icon { width: 100%; height: 100%; }
  `;

  constructor() {
    super();
    /** @type {import('../client/module-list.js').Module | null} */
    this.module = null;
  }

  connectedCallback() {
    super.connectedCallback();
    this.ariaHidden = 'true';
  }

  render() {
    const icon = this.module?.component?.icon ?? '';
    if (icon.startsWith('/modules/')) return html`<img src=${icon} alt="">`;
    return html`<ac-icon name=${hasIcon(icon) ? icon : 'box'}></ac-icon>`;
  }
}

customElements.define('ac-module-icon', AcModuleIcon);
