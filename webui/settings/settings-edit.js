/** Editing of the settings of a module or of the server: load, change, preview and save them. Independent of the elements. */
import {Store} from '../base/store.js';
import {client} from '../client/client.js';
import {t} from '../base/i18n.js';
import {valueAt} from '../schema/paths.js';
import {errorsOf} from '../schema/validate.js';
import {bodyOf, changed, groupsOf, isInside, pathOf, rowsOf, stillWanted, undone, unset} from './settings-model.js';

/**
 * @typedef {import('./settings-model.js').SettingsDocument} SettingsDocument
 * @typedef {import('./settings-model.js').Row} Row
 *
 * @typedef {object} Review  Result of a preview.
 * @property {{file: string, text: string}[]} diff
 * @property {import('./settings-model.js').Problem[]} problems  Remaining problems.
 * @property {boolean} isChanged  True if the files changed since the user started editing.
 * @property {boolean} needsConfirmation  True if it takes effect only once it is confirmed in the approval view.
 *
 * @typedef {'' | 'saved' | 'waits'} Outcome  `waits`: a confirmation in the approval view is pending.
 */

export class SettingsEdit extends Store {
  /** @param {string} module  empty: the server's own settings */
  constructor(module) {
    super();
    this._path = module ? `/api/settings/modules/${encodeURIComponent(module)}` : '/api/settings';
    /** @type {SettingsDocument | null} */
    this.document = null;
    /** Why the settings could not be loaded. @type {unknown} */
    this.error = null;
    /** @type {import('./settings-model.js').Changes} */
    this.changes = new Map();
    /** Errors of changes, with their paths. @type {import('../schema/validate.js').FieldError[]} */
    this.errors = [];
    /** Why the changes cannot be saved. */
    this.message = '';
    /** @type {Review | null} */
    this.review = null;
    this.isBusy = false;
    /** Changes that the user has to confirm, restored if they are not applied. @type {{changeId: string, changes: import('./settings-model.js').Changes} | null} */
    this._proposed = null;
  }

  /** Load the settings; the user's changes are preserved. */
  async load() {
    try {
      this._take(await client.get(this._path));
    } catch (error) {
      this.error = error;
    }
    this.notify();
  }

  get rows() {
    return this.document ? rowsOf(groupsOf(this.document)) : [];
  }

  /** The first row with an error. */
  get firstWrong() {
    return this.rows.find((row) => this.errors.some((error) => isOf(error, row))) ?? null;
  }

  /** @param {Row} row @param {(string | number)[]} path  at or inside the row @param {unknown} value */
  change(row, path, value) {
    if (this.document) this._use(changed(this.document, this.changes, row, path, value), row);
  }

  /** Remove a setting from its file. @param {Row} row */
  unset(row) {
    if (this.document) this._use(unset(this.document, this.changes, row), row);
  }

  /** @param {Row} row */
  undo(row) {
    this._use(undone(this.changes, row), row);
  }

  discard() {
    this.errors = [];
    this._use(new Map());
  }

  /** Preview the changes, and store the result in `review`. */
  async preview(isChanged = false) {
    if (this._isWrong()) return this.notify();
    await this._busily(async () => {
      const {diff, problems, needsConfirmation} = await this._put('?preview=diff', {});
      this.review = {diff, problems, isChanged, needsConfirmation};
    });
  }

  /** Handle the decision on a change; if it was not applied, restore the proposed changes. @param {string} changeId @param {string} outcome @returns {boolean} whether it was about these */
  decided(changeId, outcome) {
    if (this._proposed?.changeId !== changeId) return false;
    const {changes} = this._proposed;
    this._proposed = null;
    if (outcome !== 'applied' && this.document) this._use(stillWanted(this.document, new Map([...changes, ...this.changes])));
    return true;
  }

  /** Save the changes, or submit them for confirmation. @param {boolean} reloads  true to reload the module with them @returns {Promise<Outcome>} what happened to them */
  async save(reloads) {
    /** @type {Outcome} */
    let outcome = '';
    await this._busily(async () => {
      try {
        const document = await this._put('', reloads ? {reload: true} : {});
        this.changes = new Map();
        this._take(document);
        outcome = 'saved';
      } catch (error) {
        const {type, context} = /** @type {import('../client/client.js').ApiError} */ (error);
        if (type !== 'confirmation_required') throw error;
        this._proposed = {changeId: context.changeId, changes: this.changes};
        this.changes = new Map();
        await this.load();
        outcome = 'waits';
      }
    });
    return outcome;
  }

  closeReview() {
    this.review = null;
    this.notify();
  }

  /** @param {() => Promise<void>} work */
  async _busily(work) {
    this.isBusy = true;
    this.message = '';
    this.notify();
    try {
      await work();
    } catch (error) {
      await this._refused(/** @type {import('../client/client.js').ApiError} */ (error));
    } finally {
      this.isBusy = false;
      this.notify();
    }
  }

  /** @param {SettingsDocument} document */
  _take(document) {
    this.document = document;
    this.changes = stillWanted(document, this.changes);
    this.error = null;
  }

  /** @param {import('./settings-model.js').Changes} changes @param {Row} [row] */
  _use(changes, row) {
    if (row) this.errors = this.errors.filter((error) => !isOf(error, row));
    this.changes = changes;
    this.message = '';
    this.notify();
  }

  /** @param {string} query @param {{reload?: true}} more */
  _put(query, more) {
    const document = /** @type {SettingsDocument} */ (this.document);
    return client.put(`${this._path}${query}`, {expected: document.digest, changes: bodyOf(document, this.changes), ...more});
  }

  /** Validate the changes in the page; return true if any is invalid. */
  _isWrong() {
    const root = this.document?.schema ?? {};
    this.errors = this.rows.flatMap((row) => {
      const change = this.changes.get(row.pointer);
      return change && 'value' in change ? errorsOf(change.value, row.part, root, row.path) : [];
    });
    this.message = this.errors.length ? t('settings.mendFirst') : '';
    return this.errors.length > 0;
  }

  /** @param {import('../client/client.js').ApiError} error */
  async _refused(error) {
    this.review = null;
    if (error.type === 'config_changed') {
      await this.load();
      if (this.changes.size) await this.preview(true);
      return;
    }
    const reported = /** @type {{path: string, message: string}[]} */ (error.context?.errors ?? []);
    this.errors = reported.flatMap(({path, message}) => {
      const row = this.rows.find(({pointer}) => isInside(path, pointer));
      return row ? [{path: this._shownPlace(row, stepsOf(path)), message}] : [];
    });
    this.message = reported.length && this.errors.length === reported.length ? t('settings.mendFirst') : error.message;
  }

  /** Return the path at which the form shows an error: the row itself if the path is no longer in its value. @param {Row} row @param {(string | number)[]} path */
  _shownPlace(row, path) {
    const change = this.changes.get(row.pointer);
    const isShown = change && 'value' in change && valueAt(change.value, path.slice(row.path.length)) !== undefined;
    return isShown ? path : row.path;
  }
}

/** @param {import('../schema/validate.js').FieldError} error @param {Row} row */
const isOf = (error, row) => row.path.every((step, index) => step === error.path[index]);

/** Return the path of a pointer in a value, with numeric steps as indexes. @param {string} pointer */
const stepsOf = (pointer) => pathOf(pointer).map((step) => (/^\d+$/.test(step) ? Number(step) : step));
