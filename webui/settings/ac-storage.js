import {LitElement, css, html, nothing} from 'lit';
import {Localized, formatBytes, formatTime, t} from '../base/i18n.js';
import {Listening} from '../base/subscriptions.js';
import {client} from '../client/client.js';
import {badges, base, buttons, cards} from '../ui/styles.js';
import '../ui/ac-error-card.js';

/**
 * @typedef {object} StoredPart
 * @property {'chats' | 'artifacts' | 'record' | 'log' | 'module_data' | 'page_sessions'} kind
 * @property {number} usedBytes
 * @property {number | null} limitBytes
 * @property {number | null} limitDays
 * @property {'oldest_deleted' | 'reported'} atLimit
 * @property {number | null} count
 * @property {number | null} oldestMs
 * @property {string[]} problems
 */
/** @typedef {{folder: string, databaseBytes: number, freeBytes: number, parts: StoredPart[]}} Storage */

/** What the state folder holds: the size of each part, its limit, and what happens there. */
export class AcStorage extends Localized(LitElement) {
  static properties = {
    _storage: {state: true},
    _error: {state: true},
  };

  static styles = [badges, base, buttons, cards, css`
    .content { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-4); }
    p { max-width: 42rem; }
    li { display: grid; gap: var(--ac-space-2); padding: var(--ac-space-3) var(--ac-space-4); }
    li + li { border-top: 1px solid var(--ac-border); }
    .head { display: flex; flex-wrap: wrap; align-items: baseline; justify-content: space-between; gap: var(--ac-space-1) var(--ac-space-4); }
    .head strong { font-weight: var(--ac-weight-medium); }
    .size { font-variant-numeric: tabular-nums; }
    meter { inline-size: 100%; block-size: 0.5rem; border: 0; border-radius: var(--ac-radius-s); background: var(--ac-hover); }
    meter::-webkit-meter-bar { block-size: 0.5rem; border: 0; border-radius: var(--ac-radius-s); background: var(--ac-hover); }
    meter::-webkit-meter-optimum-value { border-radius: var(--ac-radius-s); background: var(--ac-accent); }
    meter::-moz-meter-bar { border-radius: var(--ac-radius-s); background: var(--ac-accent); }
    .problem { color: var(--ac-danger); }
    code { overflow-wrap: anywhere; }
  `];

  constructor() {
    super();
    /** @type {Storage | null} */
    this._storage = null;
    /** @type {unknown} */
    this._error = null;
    new Listening(this, () => {
      void this._load();
      return [client.on('settings.changed', () => void this._load())];
    });
  }

  render() {
    return html`
      <div class="content">
        <p class="muted">${t('settings.storageText')}</p>
        ${this._error ? html`
          <ac-error-card heading=${t('settings.storageNotLoaded')} .error=${this._error}>
            <button slot="actions" @click=${() => this._load()}>${t('settings.tryAgain')}</button>
          </ac-error-card>` : nothing}
        ${this._storage ? this._list(this._storage) : nothing}
      </div>`;
  }

  /** @param {Storage} storage */
  _list({folder, databaseBytes, freeBytes, parts}) {
    return html`
      <ul class="card">${parts.map((part) => this._part(part))}</ul>
      <p class="muted small">${t('settings.storageFolder', {free: formatBytes(freeBytes), database: formatBytes(databaseBytes)})} <code>${folder}</code></p>`;
  }

  /** @param {StoredPart} part */
  _part({kind, usedBytes, limitBytes, limitDays, atLimit, count, oldestMs, problems}) {
    const size = limitBytes === null ? formatBytes(usedBytes) : t('settings.storageOf', {used: formatBytes(usedBytes), limit: formatBytes(limitBytes)});
    const name = t(`settings.storage.${kind}`);
    const facts = [
      count === null ? '' : t('settings.storageCount', {count}),
      oldestMs === null ? '' : t('settings.storageOldest', {time: formatTime(oldestMs, {seconds: false})}),
      limitDays === null ? '' : t('settings.storageDays', {days: limitDays}),
      limitBytes === null ? '' : t(atLimit === 'reported' ? 'settings.storageReported' : 'settings.storageOldestDeleted'),
    ].filter(Boolean);
    return html`
      <li>
        <div class="head"><strong>${name}</strong>${kind === 'page_sessions' ? nothing : html`<span class="size">${size}</span>`}</div>
        ${limitBytes === null ? nothing : html`<meter min="0" max=${limitBytes} value=${usedBytes} aria-label=${t('settings.storageMeter', {name, size})}></meter>`}
        ${facts.length ? html`<span class="muted small">${facts.join(' · ')}</span>` : nothing}
        ${problems.map((problem) => html`<span class="problem small">${problem}</span>`)}
      </li>`;
  }

  async _load() {
    try {
      this._storage = await client.get('/api/storage');
      this._error = null;
    } catch (error) {
      this._error = error;
    }
  }
}

customElements.define('ac-storage', AcStorage);
