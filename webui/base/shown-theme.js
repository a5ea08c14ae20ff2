/** The theme that is shown: the user's choice, else the system's. */

const dark = matchMedia('(prefers-color-scheme: dark)');

/** Return the theme that is shown now. @returns {'light' | 'dark'} */
export function shownTheme() {
  const chosen = document.documentElement.dataset.theme;
  if (chosen === 'light' || chosen === 'dark') return chosen;
  return dark.matches ? 'dark' : 'light';
}

/** Call `changed` on each change of theme or language. @param {() => void} changed @returns {() => void} */
export function onLook(changed) {
  const look = new MutationObserver(changed);
  look.observe(document.documentElement, {attributeFilter: ['data-theme', 'lang']});
  dark.addEventListener('change', changed);
  return () => { look.disconnect(); dark.removeEventListener('change', changed); };
}
