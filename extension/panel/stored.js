/** What panels keep in `chrome.storage.session`, so that it outlives each of them: any panel may change it. */

/** @template T @param {string} key @param {T} empty @returns {Promise<T>} */
export async function read(key, empty) {
  const found = await chrome.storage.session.get({[key]: empty});
  return /** @type {T} */ (found[key]);
}

/**
 * Change it; no other panel writes in between, and it has been written when the promise is kept.
 * @template T, R
 * @param {string} key @param {T} empty
 * @param {(value: T) => R} change  changes the value in place, and gives what the caller wants to know
 * @returns {Promise<R>}
 */
export function change(key, empty, change) {
  return navigator.locks.request(`panel.${key}`, async () => {
    const value = await read(key, empty);
    const result = change(value);
    await chrome.storage.session.set({[key]: value});
    return result;
  });
}

/** Call `handler` when something of it changes. @param {string[]} keys @param {() => void} handler @returns {() => void} the way to end it */
export function onStored(keys, handler) {
  /** @param {Record<string, chrome.storage.StorageChange>} changes @param {string} area */
  const listen = (changes, area) => {
    if (area === 'session' && keys.some((key) => key in changes)) handler();
  };
  chrome.storage.onChanged.addListener(listen);
  return () => chrome.storage.onChanged.removeListener(listen);
}
