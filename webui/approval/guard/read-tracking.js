/** Tracking of read content: the user has seen all of it once both its start and its end were visible. */
import {html} from 'lit';
import {watcher} from './element-visibility.js';

/** Marker before and after the content that has to be seen. */
export const END = html`<span class="end"></span>`;

/** Reactive controller; its host calls `watch()` with the markers after each update. */
export class Reading {
  /** @param {import('lit').ReactiveControllerHost} host */
  constructor(host) {
    this._host = host;
    /** Identifies the content; another subject has to be read again. @type {unknown} */
    this._subject = undefined;
    /** @type {Element[]} */
    this._ends = [];
    /** @type {Set<Element>} */
    this._unseen = new Set();
    this._observer = watcher((element, isSeen) => this._look(element, isSeen), {isUnderButtons: true});
    host.addController(this);
  }

  hostConnected() {
    this._host.requestUpdate();
  }

  hostDisconnected() {
    this.watch(undefined, []);
  }

  /** True once all of it was seen. */
  get isDone() {
    return this._ends.length > 0 && this._unseen.size === 0;
  }

  /** @param {unknown} subject  identifies the content between the ends: equal as long as the content does not change @param {Iterable<Element>} ends */
  watch(subject, ends) {
    const elements = [...ends];
    const isSame = subject === this._subject && elements.length === this._ends.length && elements.every((element, at) => element === this._ends[at]);
    if (isSame) return;
    this._observer.disconnect();
    [this._subject, this._ends, this._unseen] = [subject, elements, new Set(elements)];
    for (const element of elements) this._observer.observe(element);
  }

  /** @param {Element} element @param {boolean} isSeen */
  _look(element, isSeen) {
    if (!isSeen || !this._unseen.delete(element)) return;
    this._observer.unobserve(element);
    if (this.isDone) this._host.requestUpdate();
  }
}
