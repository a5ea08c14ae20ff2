import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../base/i18n.js';
import {base, buttons} from '../ui/styles.js';
import '../ui/overlay/ac-dialog.js';
import '../ui/content/ac-diff.js';
import '../ui/ac-icon.js';

/**
 * Review of what saving would change in the files.
 * @fires ac-save {reload: boolean}
 * @fires ac-close
 */
export class AcSettingsReview extends Localized(LitElement) {
  static properties = {
    review: {attribute: false},
    canReload: {attribute: false},
    isBusy: {attribute: false},
  };

  static styles = [base, buttons, css`
    ac-dialog::part(dialog) { width: min(56rem, calc(100vw - 2 * var(--ac-space-4))); }
    .content { display: grid; gap: var(--ac-space-4); color: var(--ac-text); }
    .note { display: flex; gap: var(--ac-space-2); padding: var(--ac-space-2) var(--ac-space-3); border-radius: var(--ac-radius-m); background: var(--ac-warn-soft); }
    .note ac-icon { color: var(--ac-warn); margin-top: 0.1875rem; }
    .note ul { margin-top: var(--ac-space-1); }
  `];

  constructor() {
    super();
    /** @type {import('./settings-edit.js').Review} */
    this.review = {diff: [], problems: [], isChanged: false, needsConfirmation: false};
    /** True if a module can be reloaded afterwards. */
    this.canReload = false;
    this.isBusy = false;
  }

  render() {
    const {diff, problems, isChanged, needsConfirmation} = this.review;
    const reloads = this.canReload;
    const saving = needsConfirmation ? reloads ? 'askToReload' : 'askToConfirm' : reloads ? 'saveAndReload' : 'save';
    return html`
      <ac-dialog open heading=${t('settings.reviewHeading')} @ac-close=${() => this._fire('ac-close')}>
        <div class="content">
          ${isChanged ? note(t('settings.filesChanged')) : nothing}
          ${needsConfirmation ? note(t('settings.needsConfirmation')) : nothing}
          ${problems.length ? note(t('settings.stillWrong', {n: problems.length}), problems.map(({message, path}) => `${path.slice(1).replaceAll('/', '.')}: ${message}`)) : nothing}
          ${diff.length ? diff.map(({text}) => html`<ac-diff .text=${text}></ac-diff>`) : html`<p>${t('settings.noDifference')}</p>`}
        </div>
        <button slot="actions" ?disabled=${this.isBusy} @click=${() => this._fire('ac-close')}>${t('settings.goBack')}</button>
        ${reloads ? html`<button slot="actions" ?disabled=${this.isBusy} @click=${() => this._save(false)}>${t('settings.saveOnly')}</button>` : nothing}
        <button slot="actions" class="primary" autofocus ?disabled=${this.isBusy} aria-busy=${this.isBusy} @click=${() => this._save(reloads)}>
          ${this.isBusy ? html`<ac-icon name="loader-circle"></ac-icon>` : nothing}${t(`settings.${saving}`)}
        </button>
      </ac-dialog>`;
  }

  /** @param {boolean} reload */
  _save(reload) {
    this._fire('ac-save', {reload});
  }

  /** @param {string} name @param {object} [detail] */
  _fire(name, detail) {
    this.dispatchEvent(new CustomEvent(name, {detail}));
  }
}

/** @param {string} text @param {string[]} [points] */
function note(text, points = []) {
  return html`
    <div class="note"><ac-icon name="triangle-alert"></ac-icon><div>${text}
      ${points.length ? html`<ul>${points.map((point) => html`<li>${point}</li>`)}</ul>` : nothing}</div></div>`;
}

customElements.define('ac-settings-review', AcSettingsReview);
