/** State that outlives the worker, which the browser ends when it likes, and not the browser itself. */

/**
 * One key of `chrome.storage.session`. The worker is the only one that writes it; changes follow each other, and each has
 * been written when its promise is kept.
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

  /** What is stored. @returns {Promise<T>} */
  async read() {
    await this._last;
    return this._read();
  }

  /**
   * Change it; nothing else is written in between.
   * @template R
   * @param {(value: T) => R} change  changes the value in place, and gives what the caller wants to know
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
