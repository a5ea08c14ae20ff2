/** Light or dark: what a person chose, or else what their system says. */

const dark = matchMedia('(prefers-color-scheme: dark)');

/** As the page is now. @returns {'light' | 'dark'} */
export function shownTheme() {
  const chosen = document.documentElement.dataset.theme;
  if (chosen === 'light' || chosen === 'dark') return chosen;
  return dark.matches ? 'dark' : 'light';
}

/** Told of each change of theme and language. @param {() => void} changed @returns {() => void} */
export function onLook(changed) {
  const look = new MutationObserver(changed);
  look.observe(document.documentElement, {attributeFilter: ['data-theme', 'lang']});
  dark.addEventListener('change', changed);
  return () => { look.disconnect(); dark.removeEventListener('change', changed); };
}
