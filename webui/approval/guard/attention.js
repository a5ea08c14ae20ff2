/**
 * Whether a person can have seen what stands beside a button: it was there for half a second, whole, unobstructed, and
 * nothing moved meanwhile.
 *
 * A page that frames this one could cover it, or slide it under the pointer. Intersection Observer v2 sees that
 * (https://w3c.github.io/IntersectionObserver/v2/). A browser without it decides in a window of its own, which nothing
 * can cover unseen.
 */
import {isFramed} from './framing.js';

const SEEN_MS = 500;
const NEARLY_WHOLE = 0.98;

/** Whether this browser tells if something is covered. */
const seesCovers = 'isVisible' in IntersectionObserverEntry.prototype;

/** Whether buttons can work here at all; else it takes a window of its own. */
export const canDecideHere = !isFramed || seesCovers;

/** @type {Set<Attention>} */
const all = new Set();

/** Something moved: what is under the pointer now may be something else than a moment ago. */
export function startOver() {
  for (const attention of all) attention.restart();
}

/** A reactive controller; `isArmed` says whether a click on what is watched counts. */
export class Attention {
  /** @param {import('lit').ReactiveControllerHost} host */
  constructor(host) {
    this._host = host;
    this.isArmed = false;
    this._isSeen = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this._timer = undefined;
    /** @type {Element | null} */
    this._watched = null;
    this._observer = new IntersectionObserver((entries) => this._look(/** @type {any} */ (entries.at(-1))), /** @type {any} */ ({
      threshold: [0, 0.5, NEARLY_WHOLE, 1], trackVisibility: seesCovers, delay: 100,
    }));
    this._onVisibility = () => this.restart();
    host.addController(this);
  }

  hostConnected() {
    all.add(this);
    document.addEventListener('visibilitychange', this._onVisibility);
  }

  hostDisconnected() {
    all.delete(this);
    document.removeEventListener('visibilitychange', this._onVisibility);
    this.watch(null);
  }

  /** Watch an element, in place of the one before. @param {Element | null} element */
  watch(element) {
    if (element === this._watched) return;
    this._observer.disconnect();
    this._watched = element;
    this._isSeen = false;
    this.restart();
    if (element) this._observer.observe(element);
  }

  /** Begin the half second again. */
  restart() {
    clearTimeout(this._timer);
    this._arm(false);
    if (this._isSeen && canDecideHere && !document.hidden) this._timer = setTimeout(() => this._arm(true), SEEN_MS);
  }

  /** @param {IntersectionObserverEntry & {isVisible?: boolean}} entry */
  _look({isIntersecting, intersectionRatio, isVisible}) {
    const isSeen = isIntersecting && intersectionRatio >= NEARLY_WHOLE && (isVisible ?? !isFramed);
    if (isSeen === this._isSeen) return;
    this._isSeen = isSeen;
    this.restart();
  }

  /** @param {boolean} isArmed */
  _arm(isArmed) {
    if (isArmed === this.isArmed) return;
    this.isArmed = isArmed;
    this._host.requestUpdate();
  }
}
