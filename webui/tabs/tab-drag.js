/** Drag and drop of tabs, within the pinned or the unpinned ones. */
import {nameOf, resourceTabs} from './resource-tabs.js';

/** @typedef {import('./resource-tabs.js').ShownTab} ShownTab */

export class TabDrag {
  /**
   * @param {import('lit').ReactiveControllerHost} host
   * @param {(moved: ShownTab, before: string) => void} onMove  `before`: a tab, or empty for the end
   */
  constructor(host, onMove) {
    this._host = host;
    this._onMove = onMove;
    this._dragged = '';
    /** The drop position: before a tab, or '' after the last of its kind. @type {string | null} */
    this._target = null;
    host.addController(this);
  }

  hostConnected() {}

  /** Return a tab's CSS classes for the drag. @param {ShownTab} shown */
  classes({tab}) {
    const isLast = tab.tabId === this._kin().at(-1)?.tab.tabId;
    return {dragged: tab.tabId === this._dragged, before: tab.tabId === this._target, after: isLast && this._target === ''};
  }

  /** @param {DragEvent} event @param {ShownTab} shown */
  begin(event, shown) {
    this._dragged = shown.tab.tabId;
    event.dataTransfer?.setData('text/plain', nameOf(shown));
    if (event.dataTransfer) event.dataTransfer.effectAllowed = 'move';
    this._host.requestUpdate();
  }

  /** @param {DragEvent} event @param {ShownTab} shown  the tab under the pointer */
  over(event, shown) {
    const kin = this._kin();
    const at = kin.findIndex(({tab}) => tab.tabId === shown.tab.tabId);
    if (at < 0) return;
    event.preventDefault();
    const {left, width} = /** @type {HTMLElement} */ (event.currentTarget).getBoundingClientRect();
    this._aim(kin[event.clientX > left + width / 2 ? at + 1 : at]?.tab.tabId ?? '');
  }

  /** @param {DragEvent} event */
  leave(event) {
    const list = /** @type {HTMLElement} */ (event.currentTarget);
    if (!list.contains(/** @type {Node | null} */ (event.relatedTarget))) this._aim(null);
  }

  /** @param {DragEvent} event */
  drop(event) {
    event.preventDefault();
    const [moved, before] = [resourceTabs.tabs.find(({tab}) => tab.tabId === this._dragged), this._target];
    this.end();
    if (moved && before !== null && before !== moved.tab.tabId) this._onMove(moved, before);
  }

  end() {
    this._dragged = '';
    this._target = null;
    this._host.requestUpdate();
  }

  /** @param {string | null} target */
  _aim(target) {
    if (target === this._target) return;
    this._target = target;
    this._host.requestUpdate();
  }

  _kin() {
    const dragged = resourceTabs.tabs.find(({tab}) => tab.tabId === this._dragged);
    return dragged ? resourceTabs.tabs.filter(({tab}) => tab.pinned === dragged.tab.pinned) : [];
  }
}
