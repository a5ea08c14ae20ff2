import {LitElement, css, html, nothing} from 'lit';
import {Listening} from '../base/subscriptions.js';
import {onLook, shownTheme} from '../base/shown-theme.js';

/** Icon of a tool, if it has one: a self-contained image, so that nothing is loaded and no script in it runs. */
export class AcToolIcon extends LitElement {
  static properties = {icons: {attribute: false}};

  static styles = css`
    :host { display: none; flex: none; width: 1.125em; height: 1.125em; vertical-align: -0.2em; margin-inline-end: 0.375em; }
    :host([shown]) { display: inline-flex; }
    img { width: 100%; height: 100%; object-fit: contain; }
  `;

  constructor() {
    super();
    /** @type {import('../client/tool-list.js').Tool['icons']} */
    this.icons = [];
    new Listening(this, () => [onLook(() => this.requestUpdate())]);
  }

  connectedCallback() {
    super.connectedCallback();
    this.ariaHidden = 'true';
  }

  render() {
    const [icons, theme] = [this.icons ?? [], shownTheme()];
    const icon = icons.find((one) => one.theme === theme) ?? icons.find((one) => !one.theme) ?? icons[0];
    this.toggleAttribute('shown', Boolean(icon));
    return icon ? html`<img src=${icon.src} alt="" decoding="async">` : nothing;
  }
}

customElements.define('ac-tool-icon', AcToolIcon);
