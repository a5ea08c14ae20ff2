import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../base/i18n.js';
import {Listening} from '../base/subscriptions.js';
import {requirementList} from '../client/requirement-list.js';
import {badges, base, buttons, cards} from '../ui/styles.js';
import {toastError} from '../ui/toasts.js';
import '../ui/ac-command.js';
import '../ui/ac-icon.js';
import './ac-requirement-progress.js';
import {cancelInstallation, installLabel, requestInstallation, textOf} from './actions.js';

/** @typedef {import('../client/requirement-list.js').Requirement} Requirement */

/**
 * Missing requirements of one module or of all: why they are needed and how to install them. Empty if nothing is missing.
 * @fires ac-show-approvals {}  The user wants to decide, which is possible in the approval view only.
 */
export class AcRequirements extends Localized(LitElement) {
  static properties = {
    module: {},
    _isChecking: {state: true},
  };

  static styles = [badges, base, buttons, cards, css`
    :host { display: block; }
    section { margin-bottom: var(--ac-space-6); }
    h2 { display: flex; align-items: center; justify-content: space-between; gap: var(--ac-space-2); margin-bottom: var(--ac-space-2); font-size: var(--ac-text-m); }
    li { display: grid; gap: var(--ac-space-2); padding: var(--ac-space-4); }
    li + li { border-top: 1px solid var(--ac-border); }
    .line { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: var(--ac-space-2) var(--ac-space-3); }
    h3 { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-2); font-size: var(--ac-text-m); }
    h3 ac-icon { color: var(--ac-warn); }
    p { overflow-wrap: anywhere; text-wrap: pretty; max-width: 44rem; }
    .error { color: var(--ac-danger); }
    ac-command { max-width: 26rem; }
    .command { display: grid; gap: var(--ac-space-1); }
  `];

  constructor() {
    super();
    /** The module, or '' for all. */
    this.module = '';
    this._isChecking = false;
    new Listening(this, () => [requirementList.subscribe(() => this.requestUpdate())]);
  }

  connectedCallback() {
    super.connectedCallback();
    void requirementList.load();
  }

  render() {
    const unmet = requirementList.unmet(this.module);
    if (!unmet.length) return nothing;
    return html`
      <section aria-labelledby="heading">
        <h2 id="heading">${t('requirements.heading')}
          <button class="quiet small" ?disabled=${this._isChecking} @click=${this._check}><ac-icon name="refresh-cw"></ac-icon>${t('requirements.check')}</button></h2>
        <ul class="card">${unmet.map((each) => this._requirement(each))}</ul>
      </section>`;
  }

  /** @param {Requirement} requirement */
  _requirement(requirement) {
    const {state, error, host, isDeclined, isRequired, changeId} = requirement;
    const title = textOf(requirement.title);
    const isInstalling = state === 'installing';
    return html`
      <li>
        <div class="line">
          <h3><ac-icon name=${isInstalling ? 'download' : 'triangle-alert'}></ac-icon>${title}
            ${isRequired ? nothing : html`<span class="badge">${t('requirements.recommended')}</span>`}
            ${host ? html`<span class="badge">${t('requirements.onHost', {host})}</span>` : nothing}
            ${changeId ? html`<span class="badge warn">${t('requirements.pending')}</span>` : nothing}</h3>
          ${this._action(requirement)}
        </div>
        <p>${textOf(requirement.purpose)} <span class="muted">${textOf(requirement.text)}</span></p>
        ${isInstalling ? html`<ac-requirement-progress .requirement=${requirement}></ac-requirement-progress>` : nothing}
        ${error ? html`<p class="error">${error}</p>` : nothing}
        ${isDeclined ? html`<p class="muted">${t('requirements.declined')}</p>` : nothing}
        ${isInstalling ? nothing : html`
          ${requirement.isInstallable ? html`<p class="muted small">${textOf(requirement.installs)}</p>` : nothing}
          <div class="command"><span class="muted small">${t(`requirements.${host ? 'commandThere' : requirement.isInstallable ? 'command' : 'commandOnly'}`)}</span><ac-command .command=${requirement.command}></ac-command></div>`}
      </li>`;
  }

  /** @param {Requirement} requirement */
  _action(requirement) {
    if (requirement.state === 'installing') return html`<button class="small" @click=${() => cancelInstallation(requirement)}>${t('requirements.cancel')}</button>`;
    if (!requirement.isInstallable) return nothing;
    const label = requirement.changeId ? t('requirements.approve') : installLabel(requirement);
    return html`<button class="primary" @click=${() => requestInstallation(requirement, this)}>${label}</button>`;
  }

  async _check() {
    this._isChecking = true;
    try {
      await requirementList.check();
    } catch (error) {
      toastError(t('requirements.checkFailed'), error);
    } finally {
      this._isChecking = false;
    }
  }
}

customElements.define('ac-requirements', AcRequirements);
