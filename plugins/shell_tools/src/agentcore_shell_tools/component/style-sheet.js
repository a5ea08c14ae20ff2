/**
 * `<shell-tools-sheet>`: replaces the `<style>` elements of xterm.js, which the page's policy does not allow. Its text
 * becomes a style sheet of the root that contains it.
 */
class Sheet extends HTMLElement {
  constructor() {
    super();
    this._sheet = new CSSStyleSheet();
    /** @type {Document | ShadowRoot | null} */
    this._root = null;
  }

  /** @param {string} text */
  set textContent(text) {
    this._sheet.replaceSync(text);
  }

  get textContent() {
    return '';
  }

  connectedCallback() {
    this._root = /** @type {Document | ShadowRoot} */ (this.getRootNode());
    this._root.adoptedStyleSheets = [...this._root.adoptedStyleSheets, this._sheet];
  }

  disconnectedCallback() {
    if (this._root) this._root.adoptedStyleSheets = this._root.adoptedStyleSheets.filter((sheet) => sheet !== this._sheet);
    this._root = null;
  }
}

if (!customElements.get('shell-tools-sheet')) customElements.define('shell-tools-sheet', Sheet);
