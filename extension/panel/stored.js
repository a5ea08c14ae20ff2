/** State of panels in `chrome.storage.session`, which survives each of them and which every panel may change. */

/** @template T @param {string} key @param {T} empty @returns {Promise<T>} */
export async function read(key, empty) {
  const found = await chrome.storage.session.get({[key]: empty});
  return /** @type {T} */ (found[key]);
}

/**
 * Change a value. No other panel writes in between; the value has been stored when the promise resolves.
 * @template T, R
 * @param {string} key @param {T} empty
 * @param {(value: T) => R} change  changes the value in place and returns the result for the caller
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

/** Call `handler` when one of the keys changes. @param {string[]} keys @param {() => void} handler @returns {() => void} the unsubscribe function */
export function onStored(keys, handler) {
  /** @param {Record<string, chrome.storage.StorageChange>} changes @param {string} area */
  const listen = (changes, area) => {
    if (area === 'session' && keys.some((key) => key in changes)) handler();
  };
  chrome.storage.onChanged.addListener(listen);
  return () => chrome.storage.onChanged.removeListener(listen);
}
