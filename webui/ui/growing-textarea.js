import {directive} from 'lit/directive.js';
import {AsyncDirective} from 'lit/async-directive.js';
import {nothing} from 'lit';

/** True if the browser supports `field-sizing: content`: Chromium, Firefox since 152, Safari since 26.2. */
const growsByItself = CSS.supports('field-sizing', 'content');

class Growing extends AsyncDirective {
  /** @param {import('lit/directive.js').PartInfo} part */
  constructor(part) {
    super(part);
    /** @type {HTMLTextAreaElement | null} */
    this._area = null;
    this._grow = () => this._fit();
  }

  render() {
    return nothing;
  }

  /** @param {import('lit/directive.js').ElementPart} part */
  update(part) {
    if (growsByItself) return;
    const area = /** @type {HTMLTextAreaElement} */ (part.element);
    if (area !== this._area) area.addEventListener('input', this._grow);
    this._area = area;
    // once it is in the document with its text
    requestAnimationFrame(this._grow);
  }

  _fit() {
    const area = this._area;
    if (!area?.isConnected) return;
    const edges = area.offsetHeight - area.clientHeight;
    area.style.height = 'auto';
    area.style.height = `${area.scrollHeight + edges}px`;
  }
}

/** Directive for a text area with `field-sizing: content`: makes it as high as its text in every browser, within the limits of its style. */
export const growing = directive(Growing);
