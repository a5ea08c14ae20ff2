import {LitElement, css, html, nothing} from 'lit';
import {repeat} from 'lit/directives/repeat.js';
import {Localized, t} from '../base/i18n.js';
import {withCode} from '../form/fields/field-element.js';
import {settingHint, settingLabel} from './settings-labels.js';
import {base, cards} from '../ui/styles.js';
import './ac-settings-row.js';

/** A group of settings, and the groups inside it. */
export class AcSettingsGroup extends Localized(LitElement) {
  static properties = {
    group: {attribute: false},
    document: {attribute: false},
    changes: {attribute: false},
    errors: {attribute: false},
    settingsKey: {},
    isInner: {type: Boolean, attribute: 'inner'},
  };

  static styles = [base, cards, css`
    header { margin-bottom: var(--ac-space-3); display: grid; gap: var(--ac-space-1); }
    h3 { font-size: var(--ac-text-l); }
    header p { color: var(--ac-text-muted); font-size: var(--ac-text-s); max-width: 42rem; }
    .card { overflow: hidden; }
    .card > * + * { border-top: 1px solid var(--ac-border); }
    :host([inner]) { background: var(--ac-surface); }
    :host([inner]) > section > header { margin: 0; padding: var(--ac-space-4) var(--ac-space-4) 0; }
    :host([inner]) > section > .rows { margin-inline-start: var(--ac-space-4); border-inline-start: 2px solid var(--ac-border); }
    :host([inner]) .rows > * + * { border-top: 1px solid var(--ac-border); }
  `];

  constructor() {
    super();
    /** @type {import('./settings-model.js').Group | null} */
    this.group = null;
    /** @type {import('./settings-model.js').SettingsDocument | null} */
    this.document = null;
    /** @type {import('./settings-model.js').Changes} */
    this.changes = new Map();
    /** @type {import('../schema/validate.js').FieldError[]} */
    this.errors = [];
    this.settingsKey = '';
    this.isInner = false;
  }

  /** Return the element of a row, also of one in an inner group. @param {string} pointer @returns {import('./ac-settings-row.js').AcSettingsRow | null} */
  elementOf(pointer) {
    for (const element of this.renderRoot.querySelectorAll('ac-settings-row')) {
      const row = /** @type {import('./ac-settings-row.js').AcSettingsRow} */ (element);
      if (row.row?.pointer === pointer) return row;
    }
    for (const inner of this.renderRoot.querySelectorAll('ac-settings-group')) {
      const found = /** @type {AcSettingsGroup} */ (inner).elementOf(pointer);
      if (found) return found;
    }
    return null;
  }

  render() {
    const {group, document} = this;
    if (!group || !document || group.rows.length + group.groups.length === 0) return nothing;
    const isRoot = group.path.length === 0;
    const hint = isRoot ? '' : settingHint(document, group);
    return html`
      <section aria-labelledby="heading">
        <header class=${isRoot && document.module !== null ? 'visually-hidden' : ''}>
          <h3 id="heading">${isRoot ? t('settings.general') : settingLabel(document, group)}</h3>
          ${hint ? html`<p>${withCode(hint)}</p>` : nothing}
        </header>
        <div class=${this.isInner ? 'rows' : 'card'}>
          ${repeat(group.rows, ({pointer}) => pointer, (row) => html`
            <ac-settings-row .row=${row} .document=${document} .changes=${this.changes} .errors=${this.errors} settingsKey=${this.settingsKey}></ac-settings-row>`)}
          ${repeat(group.groups, ({pointer}) => pointer, (inner) => html`
            <ac-settings-group inner .group=${inner} .document=${document} .changes=${this.changes} .errors=${this.errors} settingsKey=${this.settingsKey}></ac-settings-group>`)}
        </div>
      </section>`;
  }
}

customElements.define('ac-settings-group', AcSettingsGroup);
