import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../base/i18n.js';
import {badges, base, cards, code, fields} from '../ui/styles.js';
import {nameFor, placeOf, writtenBlock} from './pasted-blocks.js';

/** @param {string} pointer */
const shownPlace = (pointer) => pointer.slice(1).replaceAll('/', '.');
const NAME = '[A-Za-z_][A-Za-z0-9_.\\-]{0,63}';

/** One block in full, as it would be written, with the values in it that look like secrets.  @fires ac-keep {place: string, name: string} */
export class AcPastedBlock extends Localized(LitElement) {
  static properties = {
    block: {attribute: false},
    kept: {attribute: false},
  };

  static styles = [badges, base, cards, code, fields, css`
    .card { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-3); padding: var(--ac-space-4); }
    .name { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-1) var(--ac-space-3); }
    h3 { font-size: var(--ac-text-m); overflow-wrap: anywhere; min-width: 0; }
    .name code { overflow-wrap: anywhere; }
    ul { display: grid; gap: var(--ac-space-2); }
    li { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: var(--ac-space-1) var(--ac-space-2); align-items: center; }
    li label { font-weight: normal; overflow-wrap: anywhere; }
    li input:not([type]) { grid-column: 2; width: min(20rem, 100%); font-family: var(--ac-font-mono); }
    pre.code { max-height: 20rem; }
  `];

  constructor() {
    super();
    /** @type {import('./pasted-blocks.js').PastedBlock | null} */
    this.block = null;
    /** @type {import('./pasted-blocks.js').Kept} */
    this.kept = {};
  }

  render() {
    const {block} = this;
    if (!block) return nothing;
    return html`
      <div class="card">
        <div class="name">
          <h3>${block.key || t('modules.add.noName')}</h3>
          ${block.module ? html`<code class="muted">${block.module}</code>` : nothing}
          ${block.exists ? html`<span class="badge warn">${t('modules.add.exists')}</span>` : nothing}
        </div>
        <pre class="code wrap" tabindex="0" role="group" aria-label=${t('modules.add.written', {name: block.key})}><code>${JSON.stringify(writtenBlock(block, this.kept), null, 2)}</code></pre>
        ${block.secrets.length ? html`
          <p class="small">${t('modules.add.secrets')}</p>
          <ul>${block.secrets.map((secret, number) => this._secret(block, secret, `secret-${number}`))}</ul>` : nothing}
        ${block.exposed.length ? html`<p class="small">${t('modules.add.exposed', {places: block.exposed.map(shownPlace).join(', ')})}</p>` : nothing}
      </div>`;
  }

  /** @param {import('./pasted-blocks.js').PastedBlock} block @param {import('./pasted-blocks.js').PastedSecret} secret @param {string} id */
  _secret(block, secret, id) {
    const name = nameFor(this.kept, block, secret);
    const place = placeOf(block, secret);
    const where = shownPlace(secret.path);
    return html`
      <li>
        <input id=${id} type="checkbox" .checked=${name !== ''} @change=${(/** @type {Event} */ event) => this._keep(place, /** @type {HTMLInputElement} */ (event.target).checked ? secret.name : '')}>
        <label for=${id}>${t('modules.add.keep')} <code>${where}</code></label>
        ${name ? html`<input aria-label=${t('modules.add.secretName', {place: where})} .value=${name} pattern=${NAME} required spellcheck="false" autocomplete="off"
          @change=${(/** @type {Event} */ event) => this._named(place, /** @type {HTMLInputElement} */ (event.target))}>` : nothing}
      </li>`;
  }

  /** @param {string} place @param {HTMLInputElement} input */
  _named(place, input) {
    if (input.reportValidity()) this._keep(place, input.value);
  }

  /** @param {string} place @param {string} name */
  _keep(place, name) {
    this.dispatchEvent(new CustomEvent('ac-keep', {detail: {place, name}}));
  }
}

customElements.define('ac-pasted-block', AcPastedBlock);
