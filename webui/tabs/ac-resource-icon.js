import {LitElement, css, html} from 'lit';
import {client} from '../client/client.js';
import '../modules/ac-module-icon.js';

const KEPT = 100;
/** How long an icon that left the cache can still be drawn. */
const DRAWN_AFTER_MS = 10_000;
/** URLs of icons, keyed by `Resource.icon`; pages of one site share an icon. @type {Map<string, Promise<string>>} */
const loaded = new Map();

/** Decorative icon of a resource, such as that of the site it shows, else that of its module. */
export class AcResourceIcon extends LitElement {
  static properties = {
    resource: {attribute: false},
    module: {attribute: false},
    from: {},
    _url: {state: true},
  };

  static styles = css`
    :host { display: inline-flex; flex: none; width: 1.125em; height: 1.125em; }
    img { width: 100%; height: 100%; object-fit: contain; border-radius: 2px; }
  `;

  constructor() {
    super();
    /** @type {import('./resource-tabs.js').Resource | null} */
    this.resource = null;
    /** @type {import('../client/module-list.js').Module | null} */
    this.module = null;
    /** Path of the icon's owner if that is not an open resource: `/api/tabs/ID`. */
    this.from = '';
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
    return html`<img src=${this._url} alt="" draggable="false" @error=${this._onError}>`;
  }

  /** Handle a load error; a late error of a previous image is ignored. @param {Event} event */
  _onError(event) {
    const {complete, naturalWidth} = /** @type {HTMLImageElement} */ (event.target);
    if (complete && !naturalWidth) this._url = '';
  }

  /** @param {string} icon */
  async _load(icon) {
    try {
      const url = await urlOf(this.from || `/api/resources/${encodeURIComponent(/** @type {import('./resource-tabs.js').Resource} */ (this.resource).resourceId)}`, icon);
      if (icon === this._icon) this._url = url;
    } catch {
      loaded.delete(icon); // it changed meanwhile or the server is unreachable: show the module's icon
    }
  }
}

/** @param {string} from @param {string} icon @returns {Promise<string>} */
function urlOf(from, icon) {
  const known = loaded.get(icon) ?? load(from, icon);
  loaded.delete(icon);
  loaded.set(icon, known); // keep the most recently used
  const [oldest] = loaded.keys();
  if (loaded.size > KEPT) forget(oldest);
  return known;
}

/** Remove an icon from the cache, and release it once elements that show it have drawn it. @param {string} icon */
function forget(icon) {
  loaded.get(icon)?.then((url) => setTimeout(() => URL.revokeObjectURL(url), DRAWN_AFTER_MS), () => {});
  loaded.delete(icon);
}

/** @param {string} from @param {string} icon */
async function load(from, icon) {
  const response = await client.fetch(`${from}/icon?v=${icon}`);
  return URL.createObjectURL(await response.blob());
}

customElements.define('ac-resource-icon', AcResourceIcon);
