/** Keys that belong to an input method, with which Chinese, Japanese and Korean are written. */

/** What browsers say of a key that an input method has taken: https://w3c.github.io/uievents/#determine-keydown-keyup-keyCode. */
const TAKEN = 229;

/**
 * Whether a key is part of writing a word and not a command. In Safari the Enter that ends the word comes after the word has
 * ended, so that `isComposing` alone takes it for a person's Enter.
 * @param {KeyboardEvent} event
 */
export function isComposing(event) {
  return event.isComposing || event.keyCode === TAKEN;
}
