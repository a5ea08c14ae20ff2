import {LitElement, css, html, nothing} from 'lit';
import {client} from '../client/client.js';
import {Localized, t} from '../base/i18n.js';
import {base, buttons, fields} from '../ui/styles.js';
import '../ui/ac-command.js';
import '../ui/ac-preferences.js';

/** Command that opens this page, to be run in the folder where the server was started. */
const OPEN_COMMAND = /** @type {HTMLMetaElement | null} */ (document.querySelector('meta[name="agentcore-open-command"]'))?.content || 'agentcore open';

/** Login without a session, with a one-time code from the user's terminal. */
export class AcViewLogIn extends Localized(LitElement) {
  static properties = {
    error: {attribute: false},
    _isBusy: {state: true},
  };

  static styles = [base, buttons, fields, css`
    /* a long command makes nothing wider */
    :host, .sheet, .step { grid-template-columns: minmax(0, 1fr); }
    :host { min-height: 100dvh; display: grid; place-items: center; padding: var(--ac-space-5) var(--ac-space-4); }
    .sheet { width: min(26rem, 100%); display: grid; gap: var(--ac-space-5); }
    header { display: grid; gap: var(--ac-space-3); }
    header img { width: 2.5rem; height: 2.5rem; }
    h1 { font-size: var(--ac-text-xl); }
    .step { display: grid; gap: var(--ac-space-2); }
    form { display: grid; gap: var(--ac-space-2); }
    .row { display: flex; gap: var(--ac-space-2); }
    .row input { flex: 1; min-width: 0; }
    summary { cursor: pointer; width: fit-content; color: var(--ac-accent); border-radius: var(--ac-radius-s); }
    details p { margin-block: var(--ac-space-2); }
    .field-error { min-height: 1.5em; }
  `];

  constructor() {
    super();
    /** @type {import('../client/client.js').ApiError | null} */
    this.error = null;
    this._isBusy = false;
  }

  render() {
    return html`
      <div class="sheet">
        <header><img src="/static/icon.svg" alt=""><h1>${t('shell.logIn')}</h1><p class="muted">${t('shell.logInText')}</p></header>
        <div class="step"><p>${t('shell.logInOpen')}</p><ac-command command=${OPEN_COMMAND}></ac-command></div>
        <details class="step"><summary>${t('shell.logInElsewhere')}</summary><p>${t('shell.logInElsewhereText')}</p><ac-command command="${OPEN_COMMAND} --print"></ac-command></details>
        <form @submit=${this._submit}>
          <label for="code">${t('shell.logInPaste')}</label>
          <div class="row">
            <input id="code" name="code" autocomplete="off" spellcheck="false" required
              aria-invalid=${this.error ? 'true' : 'false'} aria-describedby="error">
            <button class="primary" ?disabled=${this._isBusy}>${t('shell.logInGo')}</button>
          </div>
          <p id="error" class="field-error" role="alert">${this.error ? this._reason(this.error) : nothing}</p>
        </form>
        <ac-preferences></ac-preferences>
      </div>`;
  }

  /** @param {import('../client/client.js').ApiError} error */
  _reason(error) {
    return error.type === 'invalid_code' ? t('shell.invalidCode', {command: OPEN_COMMAND}) : error.message;
  }

  /** @param {SubmitEvent} event */
  async _submit(event) {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.target);
    const pasted = String(new FormData(form).get('code')).trim();
    this._isBusy = true;
    try {
      // accept the full address as well
      await client.logIn(pasted.replace(/^.*#code=/, ''));
      this.error = null;
    } catch (error) {
      this.error = /** @type {import('../client/client.js').ApiError} */ (error);
    } finally {
      this._isBusy = false;
    }
  }
}

customElements.define('ac-view-log-in', AcViewLogIn);
