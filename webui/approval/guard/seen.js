/**
 * Whether a person can see an element: it is in view, nearly whole, and nothing covers, fades or transforms it.
 *
 * A page that frames this one could cover it, or slide it under the pointer. Intersection Observer v2 sees that
 * (https://w3c.github.io/IntersectionObserver/v2/). A browser without it decides in a window of its own, which nothing
 * can cover unseen.
 */
import {isFramed} from './framing.js';

const NEARLY_WHOLE = 0.98;
/** The buttons stand over the end of a long card; a browser that sees no covers is told so. */
const BUTTONS_PX = 88;

/** Whether this browser tells if something is covered. */
const seesCovers = 'isVisible' in IntersectionObserverEntry.prototype;

/** Whether buttons can work here at all; else it takes a window of its own. */
export const canDecideHere = !isFramed || seesCovers;

/**
 * Watch elements; `onChange` is told of each whenever it comes into sight or goes out of it.
 * @param {(element: Element, isSeen: boolean) => void} onChange
 * @param {{isUnderButtons?: boolean}} [options]  `isUnderButtons`: the buttons of its card may stand over it
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
