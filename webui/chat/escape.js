/** The Escape key, where no closer element handles it. */
import {isComposing} from '../base/input-method.js';

/** Elements that handle Escape themselves. */
const TAKES_ESCAPE = 'dialog, form, input, select, [popover], [role="dialog"], [role="menu"]';

/**
 * Call `heard` on Escape within an element, or while nothing has the focus.
 * @param {Element} host @param {(event: KeyboardEvent) => void} heard
 * @returns {() => void} the function that stops listening
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
