/**
 * Visibility of elements: the user can see one that is in view, nearly whole, and that nothing covers, fades or transforms.
 *
 * A page that frames this one could cover it, or slide it under the pointer. Intersection Observer v2 detects that
 * (https://w3c.github.io/IntersectionObserver/v2/). In a browser without it, the user decides in a separate window, which
 * nothing can cover unnoticed.
 */
import {isFramed} from './framing.js';

const NEARLY_WHOLE = 0.98;
/** Height of the buttons, which cover the end of a long card; needed in browsers that cannot detect covers. */
const BUTTONS_PX = 88;

/** True if this browser detects whether an element is covered. */
const seesCovers = 'isVisible' in IntersectionObserverEntry.prototype;

/** True if the buttons can work here; otherwise a separate window is needed. */
export const canDecideHere = !isFramed || seesCovers;

/**
 * Watch elements; `onChange` is called whenever one becomes visible or hidden.
 * @param {(element: Element, isSeen: boolean) => void} onChange
 * @param {{isUnderButtons?: boolean}} [options]  `isUnderButtons`: the buttons of its card may cover it
 */
export function watcher(onChange, {isUnderButtons = false} = {}) {
  const options = {
    threshold: [0, 0.5, NEARLY_WHOLE, 1], trackVisibility: seesCovers, delay: 100,
    ...(isUnderButtons && !seesCovers ? {rootMargin: `0px 0px -${BUTTONS_PX}px 0px`} : {}),
  };
  return new IntersectionObserver((entries) => {
    for (const entry of entries) onChange(entry.target, isSeen(/** @type {any} */ (entry)));
  }, /** @type {any} */ (options));
}

/** @param {IntersectionObserverEntry & {isVisible?: boolean}} entry */
function isSeen({isIntersecting, intersectionRatio, isVisible}) {
  return isIntersecting && intersectionRatio >= NEARLY_WHOLE && (isVisible ?? !isFramed);
}
