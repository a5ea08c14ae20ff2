import {LitElement, css, html} from 'lit';
import {Localized, t} from '../base/i18n.js';
import {base} from '../ui/styles.js';

/** Origin of a value: a default, a line of a file, or an environment variable. */
export class AcSettingsOrigin extends Localized(LitElement) {
  static properties = {origin: {attribute: false}};

  static styles = [base, css`
    :host { display: inline; color: var(--ac-text-muted); font-size: var(--ac-text-xs); overflow-wrap: anywhere; }
    code { font-size: inherit; }
  `];

  constructor() {
    super();
    /** @type {import('./settings-model.js').Origin | undefined} undefined: a default */
    this.origin = undefined;
  }

  render() {
    const {origin} = this;
    if (!origin || origin.kind === 'default') return html`${t('settings.fromDefault')}`;
    if (origin.variable) return html`${t('settings.fromEnvironment')} <code>${origin.variable}</code>`;
    const file = origin.file ?? '';
    return html`<span title=${file}>${t('settings.fromFile', {file: shortened(file), line: String(origin.line ?? 1)})}</span>`;
  }
}

/** Return the end of a path that distinguishes the files. @param {string} file */
function shortened(file) {
  const parts = file.split('/');
  return parts.slice(parts.at(-2) === 'modules' ? -2 : -1).join('/');
}

customElements.define('ac-settings-origin', AcSettingsOrigin);
