/** Messages to and from the page around the approval view: it receives the height, and only harmless input from it is accepted. */
import {LOCALES, hasChosenLocale, showLocale} from '../../base/i18n.js';
import {showTheme} from '../../base/theme.js';

/** True if the approval view is in a frame of the page. */
export const isFramed = window.top !== window;

/** The page's origin, as set by the server. */
export const pageOrigin = document.querySelector('meta[name="agentcore-page-origin"]')?.getAttribute('content') ?? '';

/** Id of the only call to show; empty: everything pending. */
export const onlyCall = new URLSearchParams(location.search).get('call') ?? '';

/** True if this is the frame of one call. The page tells it when to reload, because a browser opens only a few connections. */
export const isCallFrame = isFramed && onlyCall !== '';

/**
 * State reported by the page: whether it is connected to the server, which calls are pending, and which of them its chats show.
 * It can only hide a card or make one reload.
 * @typedef {{isConnected: boolean, hasMoved: boolean, waiting: string[], elsewhere: string[]}} PageState  `hasMoved`: the frame was moved
 */

/** Return the address that shows the same in a separate window. */
export function ownWindow() {
  return `/${location.search}`;
}

/**
 * Report the height of an element to the page whenever it changes, and adopt the page's theme and language.
 * @param {HTMLElement & {needsLogIn: boolean, isReady: boolean}} element  `isReady`: its content is shown
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
