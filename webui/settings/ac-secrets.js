import {LitElement, css, html, nothing} from 'lit';
import {Localized, formatTime, t} from '../base/i18n.js';
import {Listening} from '../base/subscriptions.js';
import {href} from '../base/router.js';
import {client} from '../client/client.js';
import {badges, base, buttons, cards} from '../ui/styles.js';
import {confirm} from '../ui/overlay/confirm.js';
import {toast, toastError} from '../ui/toasts.js';
import '../ui/ac-empty.js';
import '../ui/ac-error-card.js';
import '../ui/ac-icon.js';

/** @typedef {{secrets: {name: string, setAt: number, usedBy: string[]}[], missing: Record<string, string[]>}} Secrets */

/** Names of secrets, the modules that use them, and missing ones. Values are entered only in the approval view. */
export class AcSecrets extends Localized(LitElement) {
  static properties = {
    _found: {state: true},
    _error: {state: true},
  };

  static styles = [badges, base, buttons, cards, css`
    .content { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-4); }
    p { max-width: 42rem; }
    li { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: var(--ac-space-1) var(--ac-space-3); align-items: center; padding: var(--ac-space-3) var(--ac-space-4); }
    li + li { border-top: 1px solid var(--ac-border); }
    .about { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-1) var(--ac-space-3); min-width: 0; }
    .about code { overflow-wrap: anywhere; }
  `];

  constructor() {
    super();
    /** @type {Secrets | null} */
    this._found = null;
    /** @type {unknown} */
    this._error = null;
    new Listening(this, () => {
      void this._load();
      return [client.on('settings.changed', () => void this._load()), client.on('module.stateChanged', () => void this._load())];
    });
  }

  render() {
    const origin = document.querySelector('meta[name="agentcore-approval-origin"]')?.getAttribute('content') ?? '';
    return html`
      <div class="content">
        <p class="muted">${t('settings.secretsText')}</p>
        ${this._error && !this._found ? html`
          <ac-error-card heading=${t('settings.secretsNotLoaded')} .error=${this._error}>
            <button slot="actions" @click=${() => this._load()}>${t('settings.tryAgain')}</button>
          </ac-error-card>` : nothing}
        ${this._found ? this._list(this._found) : nothing}
        ${origin ? html`<div><a class="button" href=${origin} target="_blank" rel="noopener"><ac-icon name="key"></ac-icon>${t('settings.secretSetThere')}</a></div>` : nothing}
      </div>`;
  }

  /** @param {Secrets} found */
  _list({secrets, missing}) {
    const lacking = Object.entries(missing);
    if (!secrets.length && !lacking.length) return html`<div class="card"><ac-empty icon="key" heading=${t('settings.noSecrets')}>${t('settings.noSecretsText')}</ac-empty></div>`;
    return html`
      <ul class="card">
        ${lacking.map(([name, users]) => html`
          <li><div class="about"><code>${name}</code><span class="badge warn">${t('settings.secretMissing')}</span>${this._users(users)}</div></li>`)}
        ${secrets.map(({name, setAt, usedBy}) => html`
          <li>
            <div class="about"><code>${name}</code><span class="muted small">${t('settings.secretSince', {time: formatTime(setAt, {seconds: false})})}</span>${this._users(usedBy)}</div>
            <button class="small quiet danger" aria-label=${t('settings.secretRemoveNamed', {name})} @click=${() => this._remove(name, usedBy)}>${t('settings.secretRemove')}</button>
          </li>`)}
      </ul>`;
  }

  /** @param {string[]} users */
  _users(users) {
    if (!users.length) return html`<span class="muted small">${t('settings.secretUnused')}</span>`;
    return html`<span class="small">${t('settings.secretUsers')} ${users.map((name, at) => html`${at ? ', ' : ''}<a href=${href(['modules', name])}>${name}</a>`)}</span>`;
  }

  async _load() {
    try {
      this._found = await client.get('/api/secrets');
      this._error = null;
    } catch (error) {
      this._error = error;
    }
  }

  /** @param {string} name @param {string[]} users */
  async _remove(name, users) {
    const text = users.length ? t('settings.secretRemoveUsed', {names: users.join(', ')}) : t('settings.secretRemoveText');
    if (!await confirm({heading: t('settings.secretRemoveHeading', {name}), text, action: t('settings.secretRemove'), isDangerous: true})) return;
    try {
      await client.del(`/api/secrets/${encodeURIComponent(name)}`);
    } catch (error) {
      const waits = /** @type {import('../client/client.js').ApiError} */ (error).type === 'confirmation_required';
      if (waits) toast(t('approval.waits'), {detail: t('approval.waitsText')});
      else toastError(t('settings.secretNotRemoved', {name}), error);
    }
  }
}

customElements.define('ac-secrets', AcSecrets);
