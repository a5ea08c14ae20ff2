/** The route of the page, in the URL fragment: `#/modules/fs_tools`, `#/activity?tool=read_file`. */

/**
 * @typedef {object} Route
 * @property {string[]} path  decoded segments, such as `['modules', 'fs_tools']`
 * @property {URLSearchParams} query
 */

/** Return the current route. @returns {Route} */
export function route() {
  const [path, query = ''] = location.hash.replace(/^#\/?/, '').split(/\?(.*)/s);
  return {path: path.split('/').filter(Boolean).map(decode), query: new URLSearchParams(query)};
}

/**
 * Return the URL of a route, for a link: `href=${href(['tools', name])}`.
 * @param {string[]} path
 * @param {Record<string, string | undefined>} [query]  empty values are omitted
 */
export function href(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value);
  const search = new URLSearchParams(/** @type {[string, string][]} */ (given)).toString();
  return `#/${path.map(encodeURIComponent).join('/')}${search ? `?${search}` : ''}`;
}

/**
 * Navigate to a route.
 * @param {string} path  such as `#/tools/read_file`, or the same without `#`
 * @param {{replace?: boolean}} [options]  `replace`: without a new history entry, for filters that change while the user types
 */
export function navigate(path, {replace = false} = {}) {
  const hash = path.startsWith('#') ? path : `#${path}`;
  if (hash === location.hash) return;
  history[replace ? 'replaceState' : 'pushState'](null, '', hash);
  notify();
}

/** Call `handler` when the route changes. @param {(route: Route) => void} handler @returns {() => void} */
export function onRoute(handler) {
  const listener = () => handler(route());
  window.addEventListener('ac-route', listener);
  return () => window.removeEventListener('ac-route', listener);
}

function notify() {
  window.dispatchEvent(new CustomEvent('ac-route', {detail: route()}));
}

/** @param {string} segment */
function decode(segment) {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment; // typed by hand: the view reports that there is no such thing
  }
}

window.addEventListener('popstate', notify);
