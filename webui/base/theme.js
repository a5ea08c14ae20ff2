/** Light or dark: what the person chose, else what the system says. Loaded before the first paint. */

const KEY = 'agentcore.theme';

/** @typedef {'system' | 'light' | 'dark'} Theme */

/** The theme that the person chose. @returns {Theme} */
export function theme() {
  const chosen = localStorage.getItem(KEY);
  return chosen === 'light' || chosen === 'dark' ? chosen : 'system';
}

/** Choose a theme, in this browser, from now on. @param {Theme} chosen */
export function setTheme(chosen) {
  localStorage.setItem(KEY, chosen);
  apply();
}

/** Show a theme in this document only, for as long as it is open. @param {Theme} shown */
export function showTheme(shown) {
  apply(shown);
}

function apply(chosen = theme()) {
  if (chosen === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
}

apply();
// another tab of this browser may change it
window.addEventListener('storage', (event) => { if (event.key === KEY) apply(); });
