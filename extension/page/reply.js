/** Replies of actions: keys instead of text, which is localised later, and never the content of a secret field. */

/**
 * @typedef {object} Reply
 * @property {boolean} ok
 * @property {string} key  the key of the text
 * @property {Record<string, string | number>} values  the placeholders' values
 * @property {string} [opened]  the URL that a click opens in a new tab
 */

/** @param {string} key @param {Record<string, string | number>} [values] @returns {Reply} */
export function done(key, values = {}) {
  return {ok: true, key, values};
}

/** Thrown when an action cannot be performed. */
export class Refusal extends Error {
  /** @param {string} key @param {Record<string, string | number>} [values] */
  constructor(key, values = {}) {
    super(key);
    /** @type {Reply} */
    this.reply = {ok: false, key, values};
  }
}
