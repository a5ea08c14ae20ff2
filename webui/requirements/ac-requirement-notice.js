import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../base/i18n.js';
import {Listening} from '../base/subscriptions.js';
import {requirementList} from '../client/requirement-list.js';
import {base, buttons} from '../ui/styles.js';
import '../ui/ac-icon.js';
import './ac-requirement-progress.js';
import {cancelInstallation, installLabel, requestInstallation, textOf} from './actions.js';

/** @typedef {import('../client/requirement-list.js').Requirement} Requirement */

const KEY = 'agentcore.requirementsAway';

/**
 * Notice about requirements of modules that are missing on this machine, with a button to install them and the progress.
 * Empty while nothing is missing. Requirements that the user declined or dismissed remain visible on the modules page.
 * @fires ac-show-approvals {}  The user wants to decide, which is possible in the approval view only.
 */
export class AcRequirementNotice extends Localized(LitElement) {
  static properties = {_away: {state: true}};

  static styles = [base, buttons, css`
    :host { display: contents; }
    section {
      display: grid; grid-template-columns: auto minmax(0, 1fr) auto; align-items: center; gap: var(--ac-space-2) var(--ac-space-3);
      padding: var(--ac-space-2) var(--ac-space-4); background: var(--ac-warn-soft); border-bottom: 1px solid var(--ac-border);
    }
    section.installing { background: var(--ac-accent-soft); }
    section.failed { background: var(--ac-danger-soft); }
    section > ac-icon { color: var(--ac-warn); }
    section.installing > ac-icon { color: var(--ac-accent); }
    section.failed > ac-icon { color: var(--ac-danger); }
    .text { min-width: 0; overflow-wrap: anywhere; }
    .actions { display: flex; align-items: center; gap: var(--ac-space-2); }
    ac-requirement-progress { grid-column: 2; }
    @media (max-width: 40rem) {
      section { grid-template-columns: auto minmax(0, 1fr); align-items: start; padding: var(--ac-space-3); }
      section > ac-icon { margin-top: 0.125rem; }
      .actions { grid-column: 2; flex-wrap: wrap; }
    }
  `];

  constructor() {
    super();
    this._away = readAway();
    new Listening(this, () => [requirementList.subscribe(() => this.requestUpdate())]);
  }

  connectedCallback() {
    super.connectedCallback();
    void requirementList.load();
  }

  render() {
    return requirementList.unmet().filter((each) => this._isShown(each)).map((each) => this._notice(each));
  }

  /** @param {Requirement} requirement */
  _isShown({name, host, state, isRequired, isDeclined, error}) {
    if (host) return false;
    return state === 'installing' || (isRequired && !isDeclined && !this._away.includes(name)) || (error !== '' && !this._away.includes(name));
  }

  /** @param {Requirement} requirement */
  _notice(requirement) {
    const {state, error, name} = requirement;
    const title = textOf(requirement.title);
    const kind = state === 'installing' ? 'installing' : error ? 'failed' : 'missing';
    return html`
      <section class=${kind} aria-label=${t(`requirements.${kind}`, {title})}>
        <ac-icon name=${kind === 'installing' ? 'download' : 'triangle-alert'}></ac-icon>
        <p class="text" role="status"><strong>${t(`requirements.${kind}`, {title})}</strong>${kind === 'missing' ? html` · ${textOf(requirement.purpose)}` : nothing}${kind === 'failed' ? html` · ${error}` : nothing}</p>
        <div class="actions">${kind === 'installing' ? this._cancel(requirement) : this._install(requirement)}
          ${kind === 'installing' ? nothing : html`<button class="quiet icon" aria-label=${t('requirements.later', {title})} @click=${() => this._putAway(name)}><ac-icon name="x"></ac-icon></button>`}</div>
        ${kind === 'installing' ? html`<ac-requirement-progress .requirement=${requirement}></ac-requirement-progress>` : nothing}
      </section>`;
  }

  /** @param {Requirement} requirement */
  _install(requirement) {
    const details = html`<a href="#/modules/${requirement.modules[0]}">${t('requirements.details')}</a>`;
    if (!requirement.isInstallable) return details;
    const label = requirement.changeId ? t('requirements.approve') : installLabel(requirement);
    return html`${details}<button class="primary small" @click=${() => requestInstallation(requirement, this)}>${label}</button>`;
  }

  /** @param {Requirement} requirement */
  _cancel(requirement) {
    return html`<button class="small" @click=${() => cancelInstallation(requirement)}>${t('requirements.cancel')}</button>`;
  }

  /** @param {string} name */
  _putAway(name) {
    this._away = [...this._away, name].slice(-50);
    localStorage.setItem(KEY, JSON.stringify(this._away));
  }
}

/** @returns {string[]} */
function readAway() {
  try {
    const stored = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(stored) ? stored : [];
  } catch {
    return []; // stored by another program under the same key
  }
}

customElements.define('ac-requirement-notice', AcRequirementNotice);
