/** Sites, as the browser asks the user about them. */

/**
 * Return the origin of a page's URL, and the pattern that the user is asked to allow for it.
 * @param {string | undefined} url  undefined: the browser does not report it to the extension
 * @returns {{origin: string, pattern: string} | null}  null: not a page that can be shared
 */
export function siteOf(url) {
  if (!url || !URL.canParse(url)) return null;
  const {protocol, hostname, origin} = new URL(url);
  return ['http:', 'https:'].includes(protocol) ? {origin, pattern: `${protocol}//${hostname}/*`} : null;
}
