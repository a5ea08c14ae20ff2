/**
 * Listens to tab events only while a tab is shared: a permanent listener would wake the worker for every event of every
 * tab.
 */

/** @type {((isListening: boolean) => void) | null} */
let switchListeners = null;

/**
 * Set the handlers of tab events. Listens at once, as the worker may have been started by such an event, which is lost to
 * listeners added later.
 * @param {object} on
 * @param {(tabId: number) => void} on.changed  the tab has navigated, or was closed
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

/** Add or remove the listeners. @param {boolean} isListening */
export function listenToTabs(isListening) {
  switchListeners?.(isListening);
}
