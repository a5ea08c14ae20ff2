/** State that survives the worker, which the browser may end at any time, but not the browser itself. */

/**
 * One key of `chrome.storage.session`. Only the worker writes it; changes run in order, and each has been stored when its
 * promise resolves.
 * @template T
 */
export class Stored {
  /** @param {string} key @param {T} empty */
  constructor(key, empty) {
    this._key = key;
    this._empty = empty;
    /** @type {Promise<unknown>} */
    this._last = Promise.resolve();
  }

  /** Return the stored value. @returns {Promise<T>} */
  async read() {
    await this._last;
    return this._read();
  }

  /**
   * Change the value; nothing else writes in between.
   * @template R
   * @param {(value: T) => R} change  changes the value in place and returns the result for the caller
   * @returns {Promise<R>}
   */
  change(change) {
    const done = this._last.then(async () => {
      const value = await this._read();
      const result = change(value);
      await chrome.storage.session.set({[this._key]: value});
      return result;
    });
    this._last = done.catch(() => {});
    return done;
  }

  /** @returns {Promise<T>} */
  async _read() {
    const found = await chrome.storage.session.get({[this._key]: this._empty});
    return /** @type {T} */ (found[this._key]);
  }
}
