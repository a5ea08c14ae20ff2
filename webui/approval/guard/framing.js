/** The page around the approval view: told how high it is, and listened to about nothing but its look. */
import {LOCALES, hasChosenLocale, showLocale} from '../../base/i18n.js';
import {showTheme} from '../../base/theme.js';

/** Whether the approval view stands in a frame of the page. */
export const isFramed = window.top !== window;

/** The page's origin, as the server says it. */
export const pageOrigin = document.querySelector('meta[name="agentcore-page-origin"]')?.getAttribute('content') ?? '';

/** Tell the page how high an element is, whenever that changes, and take its look on. @param {HTMLElement} element */
export function beFramed(element) {
  if (!isFramed) return;
  const report = () => window.parent.postMessage({type: 'agentcore.approvals', height: Math.ceil(element.getBoundingClientRect().height)}, pageOrigin);
  new ResizeObserver(report).observe(element);
  window.addEventListener('message', ({origin, source, data}) => {
    if (origin !== pageOrigin || source !== window.parent || data?.type !== 'agentcore.look') return;
    if (['system', 'light', 'dark'].includes(data.theme)) showTheme(data.theme);
    if (LOCALES.includes(data.locale) && !hasChosenLocale()) showLocale(data.locale);
  });
  report();
}

/** Where a window of its own shows the same. */
export function ownWindow() {
  return '/';
}
