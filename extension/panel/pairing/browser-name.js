/** What this browser calls itself to a server, so that a person knows it there: `Chrome on Linux`. */
export function browserName() {
  const {brands = [], platform = ''} = /** @type {any} */ (navigator).userAgentData ?? {};
  const known = brands.map((/** @type {{brand: string}} */ {brand}) => brand).filter((/** @type {string} */ brand) => !/not.?a.?brand/i.test(brand));
  const brand = known.find((/** @type {string} */ name) => name !== 'Chromium') ?? 'Chromium';
  return platform ? `${brand} on ${platform}` : brand;
}
