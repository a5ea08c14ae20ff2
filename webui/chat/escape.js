/** Escape, where nothing nearer takes it. */
import {isComposing} from '../base/input-method.js';

/** What takes it for itself. */
const TAKES_ESCAPE = 'dialog, form, input, select, [popover], [role="dialog"], [role="menu"]';

/**
 * Hear of Escape in an element, or where nothing has the focus.
 * @param {Element} host @param {(event: KeyboardEvent) => void} heard
 * @returns {() => void} the way to end it
 */
export function listenForEscape(host, heard) {
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== 'Escape' || event.defaultPrevented || isComposing(event)) return;
    const path = event.composedPath();
    if (path[0] !== document.body && !path.includes(host)) return;
    if (!path.some((part) => part instanceof Element && part.matches(TAKES_ESCAPE))) heard(event);
  };
  document.addEventListener('keydown', onKey);
  return () => document.removeEventListener('keydown', onKey);
}
