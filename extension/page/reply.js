/** What an action answers: never a text, which is made in the person's language, and never what is in a secret field. */

/**
 * @typedef {object} Reply
 * @property {boolean} ok
 * @property {string} key  of the text
 * @property {Record<string, string | number>} values  what stands in the text
 * @property {string} [opened]  the address that a click opens in a new tab
 */

/** @param {string} key @param {Record<string, string | number>} [values] @returns {Reply} */
export function done(key, values = {}) {
  return {ok: true, key, values};
}

/** Ends an action that cannot be carried out. */
export class Refusal extends Error {
  /** @param {string} key @param {Record<string, string | number>} [values] */
  constructor(key, values = {}) {
    super(key);
    /** @type {Reply} */
    this.reply = {ok: false, key, values};
  }
}
