/** Whether a person can have seen the buttons: they were there for half a second, whole, unobstructed, and nothing moved. */
import {isFramed} from './framing.js';
import {canDecideHere, watcher} from './seen.js';

const SEEN_MS = 500;
/** So far a pointer comes on its way to a button, and not while a frame slides under it. */
const TRAVELLED_PX = 24;
const MOVED_PX = 3;

/** @type {Set<Attention>} */
const all = new Set();

/** Something moved: what is under the pointer now may be something else than a moment ago. */
export function startOver() {
  for (const attention of all) attention.restart();
}

/** Where the pointer was last, on the screen and in here; and since when it is in here, and how far it has come. @type {PointerEvent | null} */
let last = null;
let entered = 0;
let travelled = 0;

/**
 * A frame that slides under a pointer has it elsewhere at once, though it rests; or is entered by it and pressed, though it
 * hardly moved. A finger is nowhere before it touches; for it the page says when it moves the frame.
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

/** A reactive controller; `isArmed` says whether a click on what is watched counts, `isSeen` whether it is in sight. */
export class Attention {
  /** @param {import('lit').ReactiveControllerHost} host */
  constructor(host) {
    this._host = host;
    this.isArmed = false;
    this.isSeen = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this._timer = undefined;
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

  /** Watch an element, in place of the one before. @param {Element | null} element */
  watch(element) {
    if (element === this._watched) return;
    this._observer.disconnect();
    this._watched = element;
    this.isSeen = false;
    this.restart();
    if (element) this._observer.observe(element);
  }

  /** Begin the half second again. */
  restart() {
    clearTimeout(this._timer);
    this._arm(false);
    if (this.isSeen && canDecideHere && !document.hidden) this._timer = setTimeout(() => this._arm(true), SEEN_MS);
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
