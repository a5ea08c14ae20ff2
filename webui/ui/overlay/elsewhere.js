/**
 * Hear that a person goes on elsewhere: presses something beside these elements, or leaves the window (a press in a frame is
 * no event here). What lies over the page closes then.
 *
 * The browser's own way, `popover="auto"`, does not do: Chromium up to 150 takes the release of the right button that opened a
 * menu for a press beside it, and a press on the button that opened one closes it before the click opens it again.
 * @param {Element[]} inside
 * @param {() => void} close
 * @returns {AbortController} ends it
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
