/** The page around the approval view: told how high it is, and believed nothing but what can do no harm. */
import {LOCALES, hasChosenLocale, showLocale} from '../../base/i18n.js';
import {showTheme} from '../../base/theme.js';

/** Whether the approval view stands in a frame of the page. */
export const isFramed = window.top !== window;

/** The page's origin, as the server says it. */
export const pageOrigin = document.querySelector('meta[name="agentcore-page-origin"]')?.getAttribute('content') ?? '';

/** The one call that is shown; empty: all that waits. */
export const onlyCall = new URLSearchParams(location.search).get('call') ?? '';

/** Whether this is the frame of one call, which the page tells when to look again, for a browser holds few connections open. */
export const isCallFrame = isFramed && onlyCall !== '';

/**
 * What the page says: whether it reaches the server, which calls wait, and which of them its chats show. It can hide a card and
 * have one loaded anew by this, and no more.
 * @typedef {{isConnected: boolean, hasMoved: boolean, waiting: string[], elsewhere: string[]}} PageState  `hasMoved`: it moved the frame
 */

/** Where a window of its own shows the same. */
export function ownWindow() {
  return `/${location.search}`;
}

/**
 * Tell the page how high an element is, whenever that changes, and take its look on.
 * @param {HTMLElement & {needsLogIn: boolean, isReady: boolean}} element  `isReady`: it shows what it is for
 * @param {(state: PageState) => void} onState
 */
export function beFramed(element, onState) {
  if (!isFramed) return;
  const report = (begins = false) => {
    const {needsLogIn, isReady} = element;
    const height = Math.ceil(element.getBoundingClientRect().height);
    window.parent.postMessage({type: 'agentcore.approvals', begins, height, needsLogIn, isReady}, pageOrigin);
  };
  new ResizeObserver(() => report()).observe(element);
  window.addEventListener('message', ({origin, source, data}) => {
    if (origin !== pageOrigin || source !== window.parent || data?.type !== 'agentcore.page') return;
    if (['system', 'light', 'dark'].includes(data.theme)) showTheme(data.theme);
    if (LOCALES.includes(data.locale) && !hasChosenLocale()) showLocale(data.locale);
    onState({isConnected: data.isConnected === true, hasMoved: data.hasMoved === true, waiting: idsIn(data.waiting), elsewhere: idsIn(data.elsewhere)});
  });
  report(true);
}

/** @param {unknown} given @returns {string[]} */
function idsIn(given) {
  return Array.isArray(given) ? given.filter((id) => typeof id === 'string') : [];
}
