/** Clicks on items that move by themselves: what came under the pointer only just now is not what the user meant to press. */

/** Time in which a user notices that something else is under the pointer. */
export const STEADY_MS = 700;
const MOVED_PX = 2;

/** @typedef {Map<string, DOMRect>} Places  where each item is, by its key */

/**
 * A controller that ignores a click on an item for 700 ms after an update of its host put the item where another one was:
 * `new SteadyItems(this, () => this.renderRoot.querySelectorAll('li'))`. Items have their keys in `data-id`.
 */
export class SteadyItems {
  /**
   * @param {import('lit').LitElement} host
   * @param {() => Iterable<HTMLElement>} find  the items
   */
  constructor(host, find) {
    this._host = host;
    this._find = find;
    /** @type {Places} */
    this._before = new Map();
    /** Where the items were before they moved. @type {{places: Places, at: number}[]} */
    this._moves = [];
    host.addController(this);
  }

  /** Count what moved until now as meant by the user. */
  accept() {
    this._moves = [];
  }

  hostConnected() {
    this._host.addEventListener('click', this, {capture: true});
  }

  hostDisconnected() {
    this._host.removeEventListener('click', this, {capture: true});
  }

  hostUpdate() {
    this._before = this._host.hasUpdated ? this._measure() : new Map();
  }

  hostUpdated() {
    const now = performance.now();
    this._moves = this._moves.filter(({at}) => now - at < STEADY_MS);
    if (!this._before.size) return;
    const after = this._measure();
    const hasMoved = [...after].some(([key, place]) => !isAt(this._before.get(key), place));
    if (hasMoved) this._moves.push({places: this._before, at: now});
  }

  /** @param {MouseEvent} event */
  handleEvent(event) {
    // a click by keyboard is on what has the focus, wherever that moved
    if (event.detail === 0) return;
    const pressed = event.composedPath().find((element) => element instanceof HTMLElement && element.dataset.id !== undefined);
    if (!(pressed instanceof HTMLElement)) return;
    const since = performance.now() - STEADY_MS;
    const wasOther = this._moves.some(({places, at}) => at > since && this._isOther(places, pressed.dataset.id ?? '', event));
    if (!wasOther) return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {Places} places @param {string} key @param {MouseEvent} event */
  _isOther(places, key, {clientX, clientY}) {
    const before = [...places].find(([, {left, right, top, bottom}]) => left <= clientX && clientX < right && top <= clientY && clientY < bottom);
    return before !== undefined && before[0] !== key;
  }

  /** @returns {Places} */
  _measure() {
    return new Map([...this._find()].map((item) => [item.dataset.id ?? '', item.getBoundingClientRect()]));
  }
}

/** @param {DOMRect | undefined} before @param {DOMRect} after */
function isAt(before, after) {
  return before !== undefined && Math.hypot(before.left - after.left, before.top - after.top) <= MOVED_PX;
}
