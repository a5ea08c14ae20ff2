/**
 * What happens to tabs is heard while one is shared, and not otherwise: a listener that stands wakes the worker at each
 * step of each tab.
 */

/** @type {((isListening: boolean) => void) | null} */
let switchListeners = null;

/**
 * Tell who hears of tabs. Listens at once, for the worker may have been started by such an event, which is lost to
 * listeners that come later.
 * @param {object} on
 * @param {(tabId: number) => void} on.changed  it has gone somewhere, or is closed
 * @param {(added: number, removed: number) => void} on.replaced
 */
export function prepareTabEvents({changed, replaced}) {
  /** @param {number} tabId */
  const onChanged = (tabId) => changed(tabId);
  switchListeners = (isListening) => {
    for (const [event, handler] of /** @type {[any, any][]} */ ([
      [chrome.tabs.onUpdated, onChanged], [chrome.tabs.onRemoved, onChanged], [chrome.tabs.onReplaced, replaced],
    ])) {
      if (!isListening) event.removeListener(handler);
      else if (!event.hasListener(handler)) event.addListener(handler);
    }
  };
  switchListeners(true);
}

/** Listen, or do not. @param {boolean} isListening */
export function listenToTabs(isListening) {
  switchListeners?.(isListening);
}
