/** Keys that belong to an input method (IME), used to type Chinese, Japanese and Korean. */

/** The `keyCode` that browsers report for a key handled by an input method: https://w3c.github.io/uievents/#determine-keydown-keyup-keyCode. */
const TAKEN = 229;

/**
 * True if a key is part of a composition and not a command. In Safari the Enter that ends a composition arrives after its end,
 * so that `isComposing` alone would treat it as the user's Enter.
 * @param {KeyboardEvent} event
 */
export function isComposing(event) {
  return event.isComposing || event.keyCode === TAKEN;
}
