/** Arming of the buttons: they work once the user can have seen them for half a second, whole, unobstructed, and without movement. */
import {STEADY_MS} from '../../base/steady-items.js';
import {isFramed} from './framing.js';
import {canDecideHere, watcher} from './element-visibility.js';

const SEEN_MS = 500;
/** Distance that a pointer travels on its way to a button, but not while a frame slides under it. */
const TRAVELLED_PX = 24;
const MOVED_PX = 3;

/** @type {Set<Attention>} */
const all = new Set();

/** Restart the delay of all buttons: something moved, so what is under the pointer may have changed. */
export function startOver() {
  for (const attention of all) attention.restart(STEADY_MS);
}

/** The last pointer event; `entered` is the time at which the pointer entered this document, `travelled` its way since then. @type {PointerEvent | null} */
let last = null;
let entered = 0;
let travelled = 0;

/**
 * Restart the delay if the frame slid under the pointer: the position in the frame changed although the pointer rests, or the
 * frame was entered and pressed although the pointer hardly moved. A finger has no position before it touches; for touch, the
 * page reports when it moves the frame.
 * @param {PointerEvent} event
 */
function lookForMoves(event) {
  if (event.pointerType === 'touch') return;
  const way = last ? Math.hypot(event.screenX - last.screenX, event.screenY - last.screenY) : 0;
  const isElsewhere = last !== null && way <= 1 && Math.hypot(event.clientX - last.clientX, event.clientY - last.clientY) > MOVED_PX;
  last = event;
  travelled += way;
  if (event.type === 'pointerover' && event.relatedTarget === null) [entered, travelled] = [event.timeStamp, 0];
  const isSudden = event.type === 'pointerdown' && travelled < TRAVELLED_PX && event.timeStamp - entered < SEEN_MS;
  if (isElsewhere || isSudden) startOver();
}

if (isFramed) {
  for (const type of /** @type {const} */ (['pointerover', 'pointermove', 'pointerdown'])) window.addEventListener(type, lookForMoves, {capture: true, passive: true});
}

/** Reactive controller; `isArmed` is true if a click on the watched element counts, `isSeen` while it is visible. */
export class Attention {
  /** @param {import('lit').ReactiveControllerHost} host */
  constructor(host) {
    this._host = host;
    this.isArmed = false;
    this.isSeen = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this._timer = undefined;
    /** Before this moment no click counts. */
    this._notBefore = 0;
    /** @type {Element | null} */
    this._watched = null;
    this._observer = watcher((_element, isSeen) => this._look(isSeen));
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

  /** Watch an element instead of the previous one. @param {Element | null} element */
  watch(element) {
    if (element === this._watched) return;
    this._observer.disconnect();
    this._watched = element;
    this.isSeen = false;
    this.restart();
    if (element) this._observer.observe(element);
  }

  /** Restart the delay. @param {number} [delayMs]  half a second, or longer if something else may be under the pointer now */
  restart(delayMs = SEEN_MS) {
    clearTimeout(this._timer);
    this._arm(false);
    const now = performance.now();
    this._notBefore = Math.max(this._notBefore, now + delayMs);
    if (this.isSeen && canDecideHere && !document.hidden) this._timer = setTimeout(() => this._arm(true), this._notBefore - now);
  }

  /** @param {boolean} isSeen */
  _look(isSeen) {
    if (isSeen === this.isSeen) return;
    this.isSeen = isSeen;
    this._host.requestUpdate();
    this.restart();
  }

  /** @param {boolean} isArmed */
  _arm(isArmed) {
    if (isArmed === this.isArmed) return;
    this.isArmed = isArmed;
    this._host.requestUpdate();
  }
}
