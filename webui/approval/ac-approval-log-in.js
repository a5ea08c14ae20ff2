import {LitElement, css, html, nothing} from 'lit';
import {client} from '../client/client.js';
import '../ui/ac-icon.js';
import {ownWindow} from './guard/framing.js';
import {Localized, t} from '../base/i18n.js';
import {canDecideHere} from './guard/element-visibility.js';
import {base, buttons, fields} from '../ui/styles.js';

/** Log-in form for a browser that may not approve yet; the code comes from the server's terminal. */
export class AcApprovalLogIn extends Localized(LitElement) {
  static properties = {
    error: {attribute: false},
    _isBusy: {state: true},
  };

  static styles = [base, buttons, fields, css`
    .sheet { display: grid; gap: var(--ac-space-3); max-width: 34rem; margin-inline: auto; }
    h2 { font-size: var(--ac-text-l); display: flex; gap: var(--ac-space-2); align-items: center; }
    ol { list-style: decimal; padding-inline-start: 1.25rem; display: grid; gap: var(--ac-space-1); }
    kbd { padding: 0 var(--ac-space-1); border: 1px solid var(--ac-border); border-radius: var(--ac-radius-s); background: var(--ac-surface-sunken); }
    .row { display: flex; gap: var(--ac-space-2); }
    .row input { flex: 1; min-width: 0; }
    form { display: grid; gap: var(--ac-space-2); }
  `];

  constructor() {
    super();
    /** @type {import('../client/client.js').ApiError | null} */
    this.error = null;
    this._isBusy = false;
  }

  render() {
    return canDecideHere ? this._form() : this._elsewhere();
  }

  /** Link to a separate window: a frame that cannot decide needs no log-in. Safari partitions storage by the embedding page, so the frame would not share the window's log-in. */
  _elsewhere() {
    return html`
      <div class="sheet">
        <p>${t('approval.decideInWindowText')}</p>
        <p><a class="button primary" href=${ownWindow()} target="_blank" rel="noopener"><ac-icon name="external-link"></ac-icon>${t('approval.decideInWindow')}</a></p>
      </div>`;
  }

  _form() {
    return html`
      <div class="sheet">
        <h2><ac-icon name="shield"></ac-icon>${t('approval.logIn')}</h2>
        <p class="muted">${t('approval.logInText')}</p>
        <ol><li>${t('approval.logInTerminal')} <kbd>code</kbd></li><li>${t('approval.logInOpen')}</li></ol>
        <form @submit=${this._submit}>
          <label for="code">${t('approval.logInPaste')}</label>
          <div class="row">
            <input id="code" name="code" autocomplete="off" spellcheck="false" required aria-invalid=${this.error ? 'true' : 'false'} aria-describedby="error">
            <button class="primary" ?disabled=${this._isBusy}>${t('shell.logInGo')}</button>
          </div>
          <p id="error" class="field-error" role="alert">${this.error ? (this.error.type === 'invalid_code' ? t('approval.invalidCode') : this.error.message) : nothing}</p>
        </form>
      </div>`;
  }

  /** @param {SubmitEvent} event */
  async _submit(event) {
    event.preventDefault();
    const pasted = String(new FormData(/** @type {HTMLFormElement} */ (event.target)).get('code')).trim();
    this._isBusy = true;
    try {
      // the whole address is accepted as well
      await client.logIn(pasted.replace(/^.*#code=/, '').replace(/&.*$/, ''));
      this.error = null;
    } catch (error) {
      this.error = /** @type {import('../client/client.js').ApiError} */ (error);
    } finally {
      this._isBusy = false;
    }
  }
}

customElements.define('ac-approval-log-in', AcApprovalLogIn);
