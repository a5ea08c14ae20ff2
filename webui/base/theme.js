/** The theme, light or dark: the user's choice, else the system's. Before the first paint, theme-before-paint.js applies it. */

const KEY = 'agentcore.theme';

/** @typedef {'system' | 'light' | 'dark'} Theme */

/** Return the theme that the user chose. @returns {Theme} */
export function theme() {
  const chosen = localStorage.getItem(KEY);
  return chosen === 'light' || chosen === 'dark' ? chosen : 'system';
}

/** Set the theme and store the choice in this browser. @param {Theme} chosen */
export function setTheme(chosen) {
  localStorage.setItem(KEY, chosen);
  apply();
}

/** Show a theme in this document only, while it is open. @param {Theme} shown */
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
