import {t} from '../../base/i18n.js';
import {whenIdle} from '../../base/idle.js';
import {AcCopy} from '../ac-copy.js';

const SLICE_MS = 12; // of typesetting at a time: thousands of formulas must not block the page
/** @type {typeof import('./formula-typesetting.js') | null} */
let typesetting = null;
/** @type {Promise<void> | null} */
let loading = null;
/** @type {Set<AcFormula>} */
const waiting = new Set();
let isScheduled = false;
let sliceEnd = 0;

/** Load what typesets formulas. */
export function loadTypesetting() {
  loading ??= import('./formula-typesetting.js').then((loaded) => { typesetting = loaded; }, () => { loading = null; });
  return loading;
}

/**
 * A formula: its source (`raw`, `tex`) until it is typeset, and if it cannot be typeset. It has no shadow root, so that a selection which
 * starts outside of it includes it; what is copied then is its source.
 */
export class AcFormula extends HTMLElement {
  /** The attributes that come from the text. */
  static given = ['raw', 'tex', 'display'];

  connectedCallback() {
    if (!this.firstChild) this._showSource();
    if (this.hasAttribute('typeset')) return void typesetting?.addStyles(this);
    waiting.add(this);
    if (typesetting) typesetWaiting();
    else void loadTypesetting().then(typesetWaiting);
  }

  disconnectedCallback() {
    waiting.delete(this);
  }

  get _tex() {
    return this.getAttribute('tex') ?? '';
  }

  _showSource() {
    this.replaceChildren(part('tex', this.getAttribute('raw') ?? ''));
  }

  typeset() {
    const isDisplay = this.hasAttribute('display');
    const shown = part('shown', '');
    try {
      typesetting?.typeset(this._tex, shown, isDisplay);
    } catch (error) {
      this.setAttribute('failed', '');
      this.title = t('ui.formulaFailed', {why: error instanceof Error ? error.message : String(error)});
      return;
    }
    typesetting?.addStyles(this);
    // the source comes along when a selection is copied; what is shown cannot be selected
    const source = part('source', this.getAttribute('raw') ?? '');
    source.setAttribute('aria-hidden', 'true');
    this.replaceChildren(shown, source);
    this.setAttribute('typeset', '');
    if (!isDisplay) return;
    shown.tabIndex = 0;
    const copy = new AcCopy();
    copy.label = t('ui.copyFormula');
    copy.value = this._tex;
    this.append(copy);
  }
}
customElements.define('ac-formula', AcFormula);

/** @param {string} name @param {string} text */
function part(name, text) {
  const made = document.createElement('span');
  made.className = name;
  made.textContent = text;
  return made;
}

/** Typeset what waits, in slices; the first slice at once, so that a formula appears together with its text. */
function typesetWaiting() {
  if (!typesetting || isScheduled) return;
  if (!sliceEnd) {
    sliceEnd = performance.now() + SLICE_MS;
    setTimeout(() => { sliceEnd = 0; }); // the formulas of one task share a slice
  }
  for (const formula of waiting) {
    if (performance.now() > sliceEnd) break;
    waiting.delete(formula);
    formula.typeset();
  }
  if (!waiting.size) return;
  isScheduled = true;
  whenIdle(() => {
    isScheduled = false;
    sliceEnd = 0;
    typesetWaiting();
  });
}
