import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../base/i18n.js';
import {withCode} from '../form/fields/field-element.js';
import {fieldTemplate, isWide} from '../form/fields/field-template.js';
import {pathText} from '../schema/paths.js';
import {shapeOf} from '../schema/shape.js';
import {isInside, isRemovable, isSecret, lockOf, pathOf, problemsOf, shownValue, variableOf, waitsForPerson} from './settings-model.js';
import {settingHint, settingLabel} from './settings-labels.js';
import {entriesPart, isChatEntries, listModels} from './chat-entries.js';
import {badges, base, buttons, code} from '../ui/styles.js';
import '../ui/ac-icon.js';
import '../form/ac-schema-form.js';
import './ac-settings-origin.js';

/** @typedef {import('./settings-model.js').Row} Row */
/** @typedef {import('./settings-model.js').SettingsDocument} SettingsDocument */

/**
 * One setting: its description, its value, the origin of that, and the actions on it.
 * @fires ac-setting-change {path, value}  inside the row; `undefined`: not set
 * @fires ac-setting-unset  remove it from its file
 * @fires ac-setting-undo  discard its change
 */
export class AcSettingsRow extends Localized(LitElement) {
  static properties = {
    row: {attribute: false},
    document: {attribute: false},
    changes: {attribute: false},
    errors: {attribute: false},
    settingsKey: {},
  };

  static styles = [base, badges, buttons, code, css`
    :host { container: row / inline-size; }
    .row { display: grid; grid-template-columns: minmax(0, 5fr) minmax(0, 6fr); gap: var(--ac-space-2) var(--ac-space-5); padding: var(--ac-space-4); align-items: start; }
    .row.wide { grid-template-columns: minmax(0, 1fr); }
    .row.wide .field { max-width: 42rem; }
    .row.changed { background: var(--ac-accent-soft); box-shadow: inset 3px 0 0 var(--ac-accent); }
    .about { display: grid; gap: var(--ac-space-1); min-width: 0; }
    .name { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-1) var(--ac-space-2); }
    h4 { font-weight: var(--ac-weight-medium); overflow-wrap: anywhere; }
    .hint { color: var(--ac-text-muted); font-size: var(--ac-text-s); text-wrap: pretty; max-width: 36rem; }
    .hint code { padding: 0 0.2em; border-radius: var(--ac-radius-s); background: var(--ac-surface-sunken); }
    .worded { --ac-form-label-font: var(--ac-font-sans); }
    .key { color: var(--ac-text-muted); font-size: var(--ac-text-xs); overflow-wrap: anywhere; }
    .field { display: grid; gap: var(--ac-space-2); min-width: 0; }
    .foot { display: flex; flex-wrap: wrap; align-items: center; gap: 0 var(--ac-space-3); min-height: 1.25rem; }
    .link { min-height: 0; padding: 0; border: 0; background: none; box-shadow: none; color: var(--ac-accent); font-size: var(--ac-text-xs); text-decoration: underline; text-underline-offset: 0.2em; }
    .link:hover:not(:disabled) { background: none; color: var(--ac-accent-strong); }
    .value { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-1) var(--ac-space-2); overflow-wrap: anywhere; }
    .value code { padding: 0.125rem var(--ac-space-2); border-radius: var(--ac-radius-s); background: var(--ac-surface-sunken); border: 1px solid var(--ac-border); }
    pre.code { max-height: 14rem; }
    .locked { display: inline-flex; gap: var(--ac-space-1); color: var(--ac-text-muted); font-size: var(--ac-text-xs); overflow-wrap: anywhere; }
    .locked ac-icon { margin-top: 0.125rem; width: 0.875rem; height: 0.875rem; }
    .problem { color: var(--ac-danger); font-size: var(--ac-text-s); display: flex; gap: var(--ac-space-2); overflow-wrap: anywhere; }
    .problem ac-icon { margin-top: 0.1875rem; }
    @container row (max-width: 36rem) { .row { grid-template-columns: minmax(0, 1fr); padding: var(--ac-space-3) var(--ac-space-4); } }
  `];

  constructor() {
    super();
    /** @type {Row | null} */
    this.row = null;
    /** @type {SettingsDocument | null} */
    this.document = null;
    /** @type {import('./settings-model.js').Changes} */
    this.changes = new Map();
    /** Errors of changes. @type {import('../schema/validate.js').FieldError[]} */
    this.errors = [];
    /** The key of a module's settings. */
    this.settingsKey = '';
  }

  /** Scroll the field to the middle of the view and focus it. */
  show() {
    this.scrollIntoView({block: 'center'});
    const field = /** @type {import('../form/fields/field-element.js').FieldElement | null} */ (this.renderRoot.querySelector('.field > div > :first-child'));
    field?.focusControl?.();
  }

  render() {
    const {row, document, changes} = this;
    if (!row || !document) return nothing;
    const label = settingLabel(document, row);
    const hint = settingHint(document, row);
    const change = changes.get(row.pointer);
    const lock = lockOf(document, row);
    const isIn = (/** @type {string[]} */ places) => places.some((at) => isInside(at, row.pointer));
    return html`
      <div class="row ${change ? 'changed' : ''} ${this._isWide(row, document, lock) ? 'wide' : ''}" role="group" aria-labelledby="name">
        <div class="about">
          <div class="name">
            <h4 id="name">${label}</h4><code class="key">${row.path.join('.')}</code>
            ${change ? html`<span class="badge accent">${t('remove' in change ? this._removalText(row, document, 'willBeRemoved', 'willShowApp') : 'settings.changed')}</span>` : nothing}
            ${row.kind === 'unknown' ? html`<span class="badge danger">${t('settings.unknown')}</span>` : nothing}
            ${isIn(document.waitsForConfirmation) ? html`<span class="badge warn">${t('settings.waits')}</span>` : nothing}
            ${isIn(document.waitsForRestart) ? html`<span class="badge warn">${t('settings.fromNextStart')}</span>` : nothing}
          </div>
          ${hint ? html`<p class="hint">${withCode(hint)}</p>` : nothing}
        </div>
        <div class="field">
          ${row.kind === 'unknown' ? nothing : lock ? this._locked(row, document) : this._field(row, document, label)}
          ${problemsOf(document, row).map(({message}) => (change ? nothing : html`<p class="problem"><ac-icon name="circle-alert"></ac-icon><span>${message}</span></p>`))}
          ${this._foot(row, document, lock)}
        </div>
      </div>`;
  }

  /** @param {Row} row @param {SettingsDocument} document @param {string | null} lock */
  _isWide(row, document, lock) {
    if (lock || row.kind === 'unknown') return false;
    const {kind} = shapeOf(row.part, document.schema ?? {});
    return kind !== 'text' && isWide(this._fieldOf(row, ''), shownValue(document, row, this.changes), this._form(document));
  }

  /** @param {Row} row @param {string} label @returns {import('../form/fields/field-element.js').Field} */
  _fieldOf(row, label) {
    const document = /** @type {SettingsDocument} */ (this.document);
    const part = isChatEntries(document, row) ? entriesPart(document, row) : row.part;
    return {part, path: row.path, label, isRequired: false, isBare: true};
  }

  /** @param {SettingsDocument} document @returns {import('../form/fields/field-element.js').FormContext} */
  _form(document) {
    const kept = document.withheld.map((pointer) => [pathText(pathOf(pointer)), {isSet: true}]);
    return {root: document.schema ?? {}, errors: this.errors, notes: Object.fromEntries(kept), isDisabled: false};
  }

  /** @param {Row} row @param {SettingsDocument} document @param {string} label */
  _field(row, document, label) {
    const list = () => isChatEntries(document, row) && void listModels(row).then(() => this.requestUpdate());
    return html`<div class=${isChatEntries(document, row) ? 'worded' : ''} @ac-field-change=${this._onChange} @focusin=${list}>${fieldTemplate(this._fieldOf(row, label), shownValue(document, row, this.changes), this._form(document))}</div>`;
  }

  /** @param {Row} row @param {SettingsDocument} document */
  _locked(row, document) {
    const isSet = Boolean(document.origins[row.pointer]);
    const secret = isSecret(document, row.pointer) || document.withheld.includes(row.pointer);
    return html`
      ${secret ? html`<div class="value"><span class="badge ${isSet ? 'ok' : ''}">${t(isSet ? 'settings.secretSet' : 'settings.secretNotSet')}</span></div>`
        : plainValue(shownValue(document, row, this.changes) ?? shapeOf(row.part, document.schema ?? {}).schema.default)}`;
  }

  /** @param {Row} row @param {SettingsDocument} document @param {string | null} lock */
  _foot(row, document, lock) {
    const origin = document.origins[row.pointer];
    const change = this.changes.get(row.pointer);
    const button = (/** @type {string} */ name, /** @type {string} */ key) => html`
      <button class="link" aria-label=${t(`${key}Named`, {name: row.path.join('.')})} @click=${() => this._fire(name)}>${t(key)}</button>`;
    return html`
      <div class="foot">
        <ac-settings-origin .origin=${origin}></ac-settings-origin>
        ${lock ? this._lock(row, document, lock) : nothing}
        ${row.kind === 'unknown' && !isRemovable(document, row) ? html`<span class="locked"><ac-icon name="lock"></ac-icon><span>${t('settings.setInApp')}</span></span>` : nothing}
        ${!lock && waitsForPerson(document, row) ? html`<span class="locked" title=${t('settings.confirmed')}><ac-icon name="shield"></ac-icon><span class="visually-hidden">${t('settings.confirmed')}</span></span>` : nothing}
        ${change ? button('ac-setting-undo', 'settings.undo') : nothing}
        ${!lock && !change && isRemovable(document, row) ? button('ac-setting-unset', row.kind === 'unknown' ? 'settings.remove' : this._removalText(row, document, 'reset', 'resetToApp')) : nothing}
      </div>`;
  }

  /** Return the text key for removing the setting, depending on what applies then: its default, or the value in app.json. @param {Row} row @param {SettingsDocument} document @param {string} toDefault @param {string} toApp */
  _removalText(row, document, toDefault, toApp) {
    if (!isRemovable(document, row)) return 'settings.setInApp';
    return `settings.${document.overApp.includes(row.pointer) ? toApp : toDefault}`;
  }

  /** Render why it cannot be changed here, and where it can. @param {Row} row @param {SettingsDocument} document @param {string} lock */
  _lock(row, document, lock) {
    if (lock === 'environment') return html`<span class="locked"><ac-icon name="lock"></ac-icon></span>`;
    const kind = lock === 'secret' && !isSecret(document, row.pointer) ? 'holdsSecret' : lock;
    return html`<span class="locked"><ac-icon name="lock"></ac-icon><span>${t(`settings.locked.${kind}`, {variable: variableOf(document, row, this.settingsKey)})}</span></span>`;
  }

  /** @param {CustomEvent<{path: (string | number)[], value: unknown}>} event */
  _onChange(event) {
    event.stopPropagation();
    this._fire('ac-setting-change', event.detail);
  }

  /** @param {string} name @param {object} [detail] */
  _fire(name, detail = {}) {
    this.dispatchEvent(new CustomEvent(name, {detail: {row: this.row, ...detail}, bubbles: true, composed: true}));
  }
}

/** Render a read-only value. @param {unknown} value */
function plainValue(value) {
  if (value === undefined) return html`<div class="value muted">${t('settings.nothingSet')}</div>`;
  if (value === null || typeof value !== 'object') return html`<div class="value"><code>${String(value)}</code></div>`;
  if (Object.keys(value).length === 0) return html`<div class="value muted">${t('settings.nothingSet')}</div>`;
  const isPlainList = Array.isArray(value) && value.every((one) => one === null || typeof one !== 'object');
  if (isPlainList) return html`<div class="value">${value.map((one) => html`<code>${String(one)}</code>`)}</div>`;
  return html`<pre class="code wrap" tabindex="0">${JSON.stringify(value, null, 2)}</pre>`;
}

customElements.define('ac-settings-row', AcSettingsRow);
