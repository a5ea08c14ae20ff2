import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../base/i18n.js';
import {client} from '../client/client.js';
import {base, buttons, fields} from '../ui/styles.js';
import {toast} from '../ui/toasts.js';
import '../ui/ac-error-card.js';
import '../ui/ac-icon.js';
import '../ui/overlay/ac-dialog.js';
import './ac-pasted-block.js';
import {bodyOf} from './pasted-blocks.js';
import '../base/later-strings.js';

/** @typedef {import('./pasted-blocks.js').Pasted} Pasted */

const TYPING_MS = 250;

/**
 * Dialog that adds modules of a family from pasted text, or edits one. It shows in full what would be written before the change is requested.
 * @fires ac-close
 */
export class AcBlockDialog extends Localized(LitElement) {
  static properties = {
    families: {attribute: false},
    heading: {},
    text: {attribute: false},
    _family: {state: true},
    _key: {state: true},
    _pasted: {state: true},
    _error: {state: true},
    _kept: {state: true},
    _isBusy: {state: true},
  };

  static styles = [base, buttons, fields, css`
    ac-dialog::part(dialog) { width: min(46rem, calc(100vw - 2 * var(--ac-space-4))); }
    .content { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-4); color: var(--ac-text); }
    .field { display: grid; gap: var(--ac-space-1); }
    textarea { width: 100%; min-height: 11rem; font-family: var(--ac-font-mono); font-size: var(--ac-text-s); white-space: pre; overflow: auto; }
    .row { display: flex; flex-wrap: wrap; gap: var(--ac-space-3); }
    .row > * { flex: 1 1 12rem; min-width: 0; }
    .note { display: flex; gap: var(--ac-space-2); padding: var(--ac-space-2) var(--ac-space-3); border-radius: var(--ac-radius-m); background: var(--ac-warn-soft); }
    .note ac-icon { color: var(--ac-warn); margin-top: 0.1875rem; }
  `];

  constructor() {
    super();
    /** @type {{key: string}[]} */
    this.families = [];
    this.heading = '';
    this.text = '';
    this._family = '';
    this._key = '';
    /** @type {Pasted | null} */
    this._pasted = null;
    /** @type {unknown} */
    this._error = null;
    /** @type {import('./pasted-blocks.js').Kept} */
    this._kept = {};
    this._isBusy = false;
    this._asked = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this._timer = undefined;
  }

  connectedCallback() {
    super.connectedCallback();
    if (this.text) void this._read();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    clearTimeout(this._timer);
  }

  render() {
    const pasted = this._pasted;
    const isReady = pasted && pasted.family && pasted.blocks.every(({module}) => module);
    return html`
      <ac-dialog open heading=${this.heading} @ac-close=${this._close}>
        <div class="content">
          <div class="field">
            <label for="text">${t('modules.add.text')}</label>
            <textarea id="text" autofocus spellcheck="false" autocomplete="off" aria-describedby="hint" maxlength="200000" .value=${this.text}
              placeholder=${`{\n  "${this.families[0]?.key ?? 'family'}": {\n    "name": {…}\n  }\n}`} @input=${this._onInput}></textarea>
            <p class="hint" id="hint">${t('modules.add.textHint')}</p>
          </div>
          ${this._error ? html`<ac-error-card heading=${t('modules.add.failed')} .error=${this._error}></ac-error-card>` : nothing}
          ${pasted ? this._meant(pasted) : nothing}
          ${pasted?.ignored.length ? html`<p class="small muted">${t('modules.add.ignored', {keys: pasted.ignored.join(', ')})}</p>` : nothing}
          ${pasted?.blocks.map((block) => html`<ac-pasted-block .block=${block} .kept=${this._kept} @ac-keep=${this._onKeep}></ac-pasted-block>`)}
          ${isReady ? html`<p class="note"><ac-icon name="triangle-alert"></ac-icon><span>${t('modules.add.trust')}</span></p>` : nothing}
        </div>
        <button slot="actions" ?disabled=${this._isBusy} @click=${this._close}>${t('ui.cancel')}</button>
        <button slot="actions" class="primary" ?disabled=${!isReady || this._isBusy} aria-busy=${this._isBusy} @click=${this._save}>
          ${this._isBusy ? html`<ac-icon name="loader-circle"></ac-icon>` : nothing}${t('settings.askToConfirm')}
        </button>
      </ac-dialog>`;
  }

  /** Render inputs for the family and name if the text does not specify them. @param {Pasted} pasted */
  _meant({family, blocks}) {
    const asksFamily = !family || this._family;
    const asksKey = blocks.length === 1 && (!blocks[0].key || this._key);
    if (!asksFamily && !asksKey) return nothing;
    return html`
      <div class="row">
        ${asksFamily ? html`
          <div class="field"><label for="family">${t('modules.add.family')}</label>
            <select id="family" @change=${(/** @type {Event} */ event) => { this._family = /** @type {HTMLSelectElement} */ (event.target).value; void this._read(); }}>
              <option value="" ?selected=${!this._family} disabled>${t('modules.add.choose')}</option>
              ${this.families.map(({key}) => html`<option value=${key} ?selected=${key === this._family}>${key}</option>`)}
            </select></div>` : nothing}
        ${asksKey ? html`
          <div class="field"><label for="key">${t('modules.add.name')}</label>
            <input id="key" .value=${this._key} maxlength="200" autocomplete="off" spellcheck="false" @input=${(/** @type {Event} */ event) => { this._key = /** @type {HTMLInputElement} */ (event.target).value.trim(); this._soon(); }}>
          </div>` : nothing}
      </div>`;
  }

  /** @param {Event} event */
  _onInput(event) {
    this.text = /** @type {HTMLTextAreaElement} */ (event.target).value;
    this._pasted = null; // never submit the result of an earlier text
    this._soon();
  }

  /** @param {CustomEvent<{place: string, name: string}>} event */
  _onKeep({detail: {place, name}}) {
    this._kept = {...this._kept, [place]: name};
  }

  _soon() {
    this._asked++; // discard a pending result of an earlier text
    clearTimeout(this._timer);
    this._timer = setTimeout(() => void this._read(), TYPING_MS);
  }

  async _read() {
    const asked = ++this._asked;
    if (!this.text.trim()) {
      this._pasted = this._error = null;
      return;
    }
    try {
      const body = {text: this.text, ...(this._family ? {family: this._family} : {}), ...(this._key ? {key: this._key} : {})};
      const pasted = await client.post('/api/families/read', body);
      if (asked === this._asked) [this._pasted, this._error] = [pasted, null];
    } catch (error) {
      if (asked === this._asked) [this._pasted, this._error] = [null, error];
    }
  }

  async _save() {
    const pasted = /** @type {Pasted} */ (this._pasted);
    this._isBusy = true;
    try {
      await client.put(`/api/families/${encodeURIComponent(pasted.family ?? '')}`, bodyOf(pasted, this._kept));
      this._close();
    } catch (error) {
      if (/** @type {import('../client/client.js').ApiError} */ (error).type !== 'confirmation_required') {
        this._error = error;
      } else {
        toast(t('approval.waits'), {detail: t('approval.waitsText')});
        this._close();
      }
    } finally {
      this._isBusy = false;
    }
  }

  _close() {
    this.dispatchEvent(new CustomEvent('ac-close'));
  }
}

customElements.define('ac-block-dialog', AcBlockDialog);
