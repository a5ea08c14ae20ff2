/** The name of this browser, by which the user recognises it on a server: `Chrome`, `Chrome on Linux`. */

/** @typedef {{brands?: {brand: string, version: string}[], platform?: string}} BrowserData */

/** Brands that browsers make up so that sites do not rely on the list: `Not:A-Brand`, `Not)A;Brand`. */
const MADE_UP = /not.?a.?brand/i;

/** @returns {string} */
export function browserName() {
  const {brands = []} = data();
  const names = brands.map(({brand}) => brand).filter((brand) => !MADE_UP.test(brand));
  return names.find((name) => name !== 'Chromium') ?? 'Chromium';
}

/** @returns {string} */
export function browserOnSystem() {
  const {platform} = data();
  return platform ? `${browserName()} on ${platform}` : browserName();
}

/** @returns {BrowserData} */
function data() {
  return /** @type {any} */ (navigator).userAgentData ?? {};
}
