/**
 * Close an overlay when the user continues elsewhere: presses something outside these elements, or leaves or resizes the window
 * (a press in a frame causes no event here, but takes the focus from the window).
 *
 * The browser's `popover="auto"` is not usable: Chromium up to 150 treats the release of the right button that opened a menu as
 * a press outside it, and a press on the button that opened one closes it before the click opens it again.
 * @param {Element[]} inside
 * @param {() => void} close
 * @returns {AbortController} ends listening when aborted
 */
export function onElsewhere(inside, close) {
  const ending = new AbortController();
  const {signal} = ending;
  const onPress = (/** @type {Event} */ event) => inside.some((element) => event.composedPath().includes(element)) || close();
  document.addEventListener('pointerdown', onPress, {capture: true, signal});
  window.addEventListener('blur', close, {signal});
  window.addEventListener('resize', close, {signal});
  return ending;
}
