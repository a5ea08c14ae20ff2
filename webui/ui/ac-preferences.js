import {LitElement, css, html} from 'lit';
import {LOCALES, Localized, locale, setLocale, t} from '../base/i18n.js';
import {base, fields} from './styles.js';
import {setTheme, theme} from '../base/theme.js';
import './ac-icon.js';

/** @type {[import('../base/theme.js').Theme, string][]} */
const THEMES = [['system', 'monitor'], ['light', 'sun'], ['dark', 'moon']];
const LANGUAGES = {en: 'English', zh: '中文'};

/** Theme and language of the page, stored in this browser. */
export class AcPreferences extends Localized(LitElement) {
  static styles = [base, fields, css`
    :host { display: flex; align-items: center; justify-content: space-between; gap: var(--ac-space-2); }
    fieldset {
      display: flex; margin: 0; padding: 2px; border: 1px solid var(--ac-border); border-radius: var(--ac-radius-m);
      background: var(--ac-surface-sunken);
    }
    fieldset label {
      display: grid; place-items: center; width: 1.75rem; height: 1.5rem; border-radius: calc(var(--ac-radius-m) - 3px);
      color: var(--ac-text-muted); cursor: pointer;
    }
    fieldset label:hover { color: var(--ac-text); }
    fieldset label:has(:checked) { background: var(--ac-surface-raised); color: var(--ac-text); box-shadow: var(--ac-shadow-s); }
    fieldset label:has(:focus-visible) { outline: 2px solid var(--ac-focus); outline-offset: 1px; }
    fieldset input { position: absolute; opacity: 0; width: 1px; height: 1px; }
    select { min-width: 0; min-height: 1.875rem; padding: 0 var(--ac-space-1); border-color: var(--ac-border); font-size: var(--ac-text-s); }
  `];

  render() {
    return html`
      <fieldset>
        <legend class="visually-hidden">${t('ui.theme')}</legend>
        ${THEMES.map(([name, icon]) => html`
          <label title=${t(`ui.theme.${name}`)}>
            <input type="radio" name="theme" .value=${name} .checked=${theme() === name} @change=${() => this._pick(name)}>
            <ac-icon name=${icon}></ac-icon><span class="visually-hidden">${t(`ui.theme.${name}`)}</span>
          </label>`)}
      </fieldset>
      <select aria-label=${t('ui.language')} @change=${this._pickLocale}>
        ${LOCALES.map((name) => html`<option .value=${name} lang=${name} ?selected=${name === locale()}>${LANGUAGES[name]}</option>`)}
      </select>`;
  }

  /** @param {import('../base/theme.js').Theme} name */
  _pick(name) {
    setTheme(name);
    this.requestUpdate();
  }

  /** @param {Event} event */
  _pickLocale(event) {
    setLocale(/** @type {import('../base/i18n.js').Locale} */ (/** @type {HTMLSelectElement} */ (event.target).value));
  }
}

customElements.define('ac-preferences', AcPreferences);
