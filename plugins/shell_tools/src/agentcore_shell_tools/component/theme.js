/** The colours of a terminal, taken from the page. */

/** Colour names of xterm.js, with the property of the page for each. */
const COLOURS = {
  background: '--ac-surface', foreground: '--ac-text', cursor: '--ac-accent', cursorAccent: '--ac-surface',
  selectionBackground: '--ac-accent-soft', black: '--ac-code-comment', brightBlack: '--ac-text-muted',
  red: '--ac-danger', brightRed: '--ac-danger-strong', green: '--ac-ok', brightGreen: '--ac-code-string',
  yellow: '--ac-warn', brightYellow: '--ac-code-number', blue: '--ac-accent', brightBlue: '--ac-accent-strong',
  magenta: '--ac-code-keyword', brightMagenta: '--ac-code-keyword', cyan: '--ac-code-type', brightCyan: '--ac-code-type',
  white: '--ac-code-text', brightWhite: '--ac-text',
};

/**
 * Return the xterm.js theme for the current appearance of the page.
 * @param {Element} probe  an element at the terminal's position, whose colour may be changed for a moment
 * @returns {Record<string, string>}
 */
export function themeOf(probe) {
  const element = /** @type {HTMLElement} */ (probe);
  /** @type {Record<string, string>} */
  const theme = {};
  for (const [name, property] of Object.entries(COLOURS)) {
    element.style.color = `var(${property})`;
    theme[name] = getComputedStyle(element).color;
  }
  element.style.color = '';
  return theme;
}

/** Call `handler` when the page switches between light and dark. @param {() => void} handler @returns {() => void} */
export function onThemeChange(handler) {
  const system = matchMedia('(prefers-color-scheme: dark)');
  const chosen = new MutationObserver(handler);
  chosen.observe(document.documentElement, {attributes: true, attributeFilter: ['data-theme']});
  system.addEventListener('change', handler);
  return () => {
    chosen.disconnect();
    system.removeEventListener('change', handler);
  };
}
