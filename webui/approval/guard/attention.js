/** Whether a person can have seen the buttons: they were there for half a second, whole, unobstructed, and nothing moved. */
import {canDecideHere, watcher} from './seen.js';

const SEEN_MS = 500;

/** @type {Set<Attention>} */
const all = new Set();

/** Something moved: what is under the pointer now may be something else than a moment ago. */
export function startOver() {
  for (const attention of all) attention.restart();
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
