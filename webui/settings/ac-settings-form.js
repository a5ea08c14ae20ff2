import {LitElement, css, html, nothing} from 'lit';
import {client} from '../client/client.js';
import {Localized, t} from '../base/i18n.js';
import {Listening} from '../base/subscriptions.js';
import {moduleList} from '../client/module-list.js';
import {SettingsEdit} from './settings-edit.js';
import {groupsOf, lockOf, pathOf, problemsElsewhere, rowsOf, waitsForPerson} from './settings-model.js';
import {base, buttons} from '../ui/styles.js';
import {toast, toastError} from '../ui/toasts.js';
import '../ui/ac-empty.js';
import '../ui/ac-error-card.js';
import '../ui/ac-icon.js';
import './ac-settings-group.js';
import './ac-settings-review.js';
import '../base/later-strings.js';

/** @typedef {import('./settings-model.js').SettingsDocument} SettingsDocument */
/** @typedef {import('./settings-model.js').Group} Group */
/** @typedef {import('./settings-model.js').Row} Row */

/** The settings of one module, or with an empty `module` those of the server: shown, edited, and saved after a review of the diff. */
export class AcSettingsForm extends Localized(LitElement) {
  static properties = {
    module: {},
    _isReloading: {state: true},
  };

  static styles = [base, buttons, css`
    .parts { display: grid; gap: var(--ac-space-6); outline: none; }
    .note { display: flex; flex-wrap: wrap; gap: var(--ac-space-2) var(--ac-space-3); align-items: center; padding: var(--ac-space-3) var(--ac-space-4); border-radius: var(--ac-radius-m); }
    .note > span { flex: 1 1 16rem; overflow-wrap: anywhere; }
    .note.warn { background: var(--ac-warn-soft); } .note.warn ac-icon { color: var(--ac-warn); }
    .note.danger { background: var(--ac-danger-soft); } .note.danger ac-icon { color: var(--ac-danger); }
    .bar {
      position: sticky; bottom: var(--ac-space-4); z-index: 3; display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-2) var(--ac-space-3);
      margin-top: var(--ac-space-5); padding: var(--ac-space-3) var(--ac-space-3) var(--ac-space-3) var(--ac-space-4);
      border: 1px solid var(--ac-border); border-radius: var(--ac-radius-l); background: var(--ac-surface-raised); box-shadow: var(--ac-shadow-l);
    }
    .legend { display: flex; gap: var(--ac-space-2); color: var(--ac-text-muted); font-size: var(--ac-text-s); }
    .legend ac-icon { flex: none; margin-top: 0.125rem; }
    .bar > span { flex: 1 1 4rem; font-weight: var(--ac-weight-medium); }
    @media (max-width: 30rem) { .bar button { padding-inline: var(--ac-space-2); } }
    .bar .field-error { flex-basis: 100%; color: var(--ac-danger); font-weight: normal; font-size: var(--ac-text-s); overflow-wrap: anywhere; }
  `];

  constructor() {
    super();
    this.module = '';
    this._isReloading = false;
    /** @type {SettingsEdit | null} */
    this._edit = null;
    new Listening(this, () => [
      client.on('settings.changed', () => void this._edit?.load()),
      client.on('module.stateChanged', ({module}) => { if (module === this.module) void this._edit?.load(); }),
      client.on('policy.requested', () => void this._edit?.load()),
      client.on('policy.decided', (decided) => void this._decided(decided)),
      client.on('events.reset', () => void this._edit?.load()),
      moduleList.subscribe(() => this.requestUpdate()),
    ]);
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (!changed.has('module')) return;
    this._edit = new SettingsEdit(this.module);
    this._edit.addEventListener('change', (event) => { if (event.target === this._edit) this.requestUpdate(); });
    void this._edit.load();
  }

  render() {
    const edit = this._edit;
    if (edit?.error) return this._failed(edit.error);
    if (!edit?.document) return nothing;
    if (!edit.document.schema) return this._notLoaded(edit.document);
    const group = groupsOf(edit.document);
    if (rowsOf(group).length === 0) return html`<p class="muted">${t('settings.none')}</p>`;
    return html`
      <div class="parts" tabindex="-1" @ac-setting-change=${this._onChange} @ac-setting-unset=${this._onUnset} @ac-setting-undo=${this._onUndo}>
        ${this._notes(edit.document, group)}
        ${partsOf(edit.document, group).map((part) => html`
          <ac-settings-group .group=${part} .document=${edit.document} .changes=${edit.changes} .errors=${edit.errors} settingsKey=${this._settingsKey}></ac-settings-group>`)}
      </div>
      ${edit.changes.size ? this._bar(edit) : nothing}
      ${edit.review ? html`
        <ac-settings-review .review=${edit.review} .isBusy=${edit.isBusy || this._isReloading} .canReload=${this._canReload}
          @ac-save=${this._save} @ac-close=${this._closeReview}></ac-settings-review>` : nothing}`;
  }

  get _settingsKey() {
    return moduleList.find(this.module)?.settingsKey || this.module;
  }

  get _canReload() {
    return ['ready', 'failed'].includes(moduleList.find(this.module)?.state ?? '');
  }

  /** @param {any} error */
  _failed(error) {
    const isBroken = error?.type === 'config_invalid';
    return html`
      <ac-error-card heading=${t(isBroken ? 'settings.fileBroken' : 'settings.failedToLoad')} .error=${error}>
        ${isBroken ? html`<p slot="hint">${t('settings.fileBrokenHint')}</p>` : nothing}
        <button slot="actions" @click=${() => this._edit?.load()}>${t('settings.tryAgain')}</button>
      </ac-error-card>`;
  }

  /** @param {SettingsDocument} document */
  _notLoaded({origins}) {
    const places = Object.entries(origins).map(([pointer, {file, line, variable}]) => `${pathOf(pointer).join('.')} – ${variable ?? `${file}:${line}`}`);
    return html`
      <div class="note warn"><ac-icon name="triangle-alert"></ac-icon><span>${t('settings.notLoaded')} ${places.length ? t('settings.notLoadedSet') : nothing}</span></div>
      ${places.length ? html`<ul class="mono small muted">${places.map((place) => html`<li>${place}</li>`)}</ul>` : nothing}`;
  }

  /** @param {SettingsDocument} document @param {Group} group */
  _notes(document, group) {
    const waits = document.waitsForRestart.length;
    const unconfirmed = document.waitsForConfirmation;
    return html`
      ${unconfirmed.length ? html`
        <div class="note warn" role="status"><ac-icon name="shield"></ac-icon><span>${t('settings.waitsForConfirmation', {names: unconfirmed.map((pointer) => pathOf(pointer).join('.')).join(', ')})}</span></div>` : nothing}
      ${rowsOf(group).some((row) => waitsForPerson(document, row)) ? html`<p class="legend"><ac-icon name="shield"></ac-icon><span>${t('settings.legend')}</span></p>` : nothing}
      ${problemsElsewhere(document, group).map(({message, path, variable}) => {
        const place = variable ?? pathOf(path).join('.');
        return html`<div class="note danger"><ac-icon name="circle-alert"></ac-icon><span>${place ? html`<code>${place}</code>: ` : nothing}${message}</span></div>`;
      })}
      ${waits ? html`<div class="note warn"><ac-icon name="clock"></ac-icon><span>${t('settings.waitsForRestart', {n: waits})}</span></div>` : nothing}
      ${document.waitsForReload ? html`
        <div class="note warn"><ac-icon name="clock"></ac-icon><span>${t('settings.waitsForReload')}</span>
          <button class="small" ?disabled=${this._isReloading} @click=${this._reload}><ac-icon name="refresh-cw"></ac-icon>${t('settings.reloadNow')}</button></div>` : nothing}`;
  }

  /** @param {SettingsEdit} edit */
  _bar(edit) {
    const {changes, isBusy, message} = edit;
    return html`
      <div class="bar" role="region" aria-label=${t('settings.unsaved')}>
        <span role="status">${t('settings.changeCount', {n: changes.size})}${this._waits(edit) ? html` <small class="muted">${t('settings.toConfirm')}</small>` : nothing}</span>
        <button class="quiet" ?disabled=${isBusy} @click=${() => this._edit?.discard()}>${t('settings.discard')}</button>
        <button class="primary" aria-disabled=${isBusy} @click=${this._preview}>${t('settings.review')}</button>
        ${message ? html`<p class="field-error" role="alert">${message}</p>` : nothing}
      </div>`;
  }

  /** Return true if a change would need a confirmation; the server makes the final decision. @param {SettingsEdit} edit */
  _waits({document, changes, rows}) {
    return document !== null && rows.some((row) => changes.has(row.pointer) && waitsForPerson(document, row));
  }

  /** @param {CustomEvent<{row: Row, path: (string | number)[], value: unknown}>} event */
  _onChange({detail: {row, path, value}}) {
    this._edit?.change(row, path, value);
  }

  /** @param {CustomEvent<{row: Row}>} event */
  _onUnset({detail: {row}}) {
    this._edit?.unset(row);
  }

  /** @param {CustomEvent<{row: Row}>} event */
  _onUndo({detail: {row}}) {
    this._edit?.undo(row);
  }

  async _preview() {
    const edit = /** @type {SettingsEdit} */ (this._edit);
    if (edit.isBusy) return;
    await edit.preview();
    await this.updateComplete;
    const wrong = edit.review ? null : edit.firstWrong;
    for (const group of wrong ? this.renderRoot.querySelectorAll('ac-settings-group') : []) {
      /** @type {import('./ac-settings-group.js').AcSettingsGroup} */ (group).elementOf(wrong?.pointer ?? '')?.show();
    }
  }

  /** @param {CustomEvent<{reload: boolean}>} event */
  async _save({detail: {reload}}) {
    const edit = /** @type {SettingsEdit} */ (this._edit);
    const outcome = await edit.save(reload);
    if (!outcome) return;
    await this._closeReview();
    if (outcome === 'waits') return toast(t('approval.waits'), {detail: t('settings.goesOn')});
    const waits = edit.document?.waitsForRestart.length ?? 0;
    toast(t('settings.saved'), {detail: waits ? t('settings.waitsForRestart', {n: waits}) : ''});
  }

  /** Report the outcome of a pending change once it is decided. @param {{changeId: string, outcome: string}} decided */
  async _decided({changeId, outcome}) {
    await this._edit?.load();
    if (!this._edit?.decided(changeId, outcome)) return;
    const isApplied = outcome === 'applied';
    if (isApplied) toast(t('settings.saved'));
    else toast(t('settings.notApplied'), {kind: 'info', detail: t('settings.notAppliedText')});
  }

  /** Close the review and return the focus to the button that opened it, which no longer exists after saving. */
  async _closeReview() {
    this._edit?.closeReview();
    await this.updateComplete;
    const place = this.renderRoot.querySelector('.bar .primary') ?? this.renderRoot.querySelector('.parts');
    /** @type {HTMLElement | null} */ (place)?.focus({preventScroll: true});
  }

  async _reload() {
    this._isReloading = true;
    try {
      await client.post(`/api/modules/${encodeURIComponent(this.module)}/reload`);
    } catch (error) {
      const waits = /** @type {import('../client/client.js').ApiError} */ (error).type === 'confirmation_required';
      if (waits) toast(t('settings.reloadWaits'), {detail: t('settings.reloadWaitsText')});
      else toastError(t('settings.reloadFailed'), error);
    } finally {
      this._isReloading = false;
    }
  }
}

/** Split the many settings of the server into separate groups, with those that can be changed first. @param {SettingsDocument} document @param {Group} group */
function partsOf(document, group) {
  if (document.module !== null) return [group];
  const isLocked = (/** @type {Row} */ row) => Number(lockOf(document, row) !== null);
  const own = group.rows.toSorted((one, other) => isLocked(one) - isLocked(other));
  return [{...group, rows: own, groups: []}, ...group.groups];
}

customElements.define('ac-settings-form', AcSettingsForm);
