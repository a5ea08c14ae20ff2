import {LitElement, css, html} from 'lit';
import {client} from '../client.js';
import './ac-module-icon.js';

const KEPT = 100;
/** Icons by what they are: pages of one site share one. @type {Map<string, Promise<string>>} */
const loaded = new Map();

/** The icon of a resource, such as that of the site it shows; else that of its module. It is decoration. */
export class AcResourceIcon extends LitElement {
  static properties = {resource: {attribute: false}, module: {attribute: false}, _url: {state: true}};

  static styles = css`
    :host { display: inline-flex; flex: none; width: 1.125em; height: 1.125em; }
    img { width: 100%; height: 100%; object-fit: contain; border-radius: 2px; }
  `;

  constructor() {
    super();
    /** @type {import('../resource-tabs.js').Resource | null} */
    this.resource = null;
    /** @type {import('../module-list.js').Module | null} */
    this.module = null;
    this._url = '';
    this._icon = '';
  }

  connectedCallback() {
    super.connectedCallback();
    this.ariaHidden = 'true';
  }

  willUpdate() {
    const icon = this.resource?.icon ?? '';
    if (icon === this._icon) return;
    this._icon = icon;
    this._url = '';
    if (icon) void this._load(icon);
  }

  render() {
    if (!this._url) return html`<ac-module-icon .module=${this.module}></ac-module-icon>`;
    return html`<img src=${this._url} alt="" draggable="false" @error=${() => { this._url = ''; }}>`;
  }

  /** @param {string} icon */
  async _load(icon) {
    try {
      const url = await urlOf(/** @type {import('../resource-tabs.js').Resource} */ (this.resource).resourceId, icon);
      if (icon === this._icon) this._url = url;
    } catch {
      loaded.delete(icon); // it changed meanwhile, or the server is away: the module's own stands for it
    }
  }
}

/** @param {string} resourceId @param {string} icon @returns {Promise<string>} */
function urlOf(resourceId, icon) {
  const known = loaded.get(icon) ?? load(resourceId, icon);
  loaded.delete(icon);
  loaded.set(icon, known); // the last used are kept
  const [oldest] = loaded.keys();
  if (loaded.size > KEPT) loaded.delete(oldest);
  return known;
}

/** @param {string} resourceId @param {string} icon */
async function load(resourceId, icon) {
  const response = await client.fetch(`/api/resources/${encodeURIComponent(resourceId)}/icon?v=${icon}`);
  return URL.createObjectURL(await response.blob());
}

customElements.define('ac-resource-icon', AcResourceIcon);
