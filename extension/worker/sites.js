/** Sites, as the browser asks the person about them. */

/**
 * The origin of a page's address, and what the person is asked to allow for it.
 * @param {string | undefined} url  undefined: the browser does not tell the extension
 * @returns {{origin: string, pattern: string} | null}  null: no page that could be shared
 */
export function siteOf(url) {
  if (!url || !URL.canParse(url)) return null;
  const {protocol, hostname, origin} = new URL(url);
  return ['http:', 'https:'].includes(protocol) ? {origin, pattern: `${protocol}//${hostname}/*`} : null;
}
