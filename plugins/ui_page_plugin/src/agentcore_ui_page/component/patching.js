/** Changes to the page that last until it is reloaded. */
import {all, roots} from './deep-selectors.js';

/** @type {Record<string, (element: Element, operation: any) => void>} */
const CHANGES = {
  setText: (element, {text}) => { element.textContent = text; },
  // HTML set this way never runs its scripts, and the page's policy blocks handlers in attributes
  setHtml: (element, {html}) => { element.innerHTML = html; },
  setAttr: (element, {name, value}) => element.setAttribute(name, value),
  remove: (element) => element.remove(),
  insertAdjacentHtml: (element, {position, html}) => element.insertAdjacentHTML(position, html),
  addClass: (element, {className}) => element.classList.add(className),
  removeClass: (element, {className}) => element.classList.remove(className),
};

/** @param {any} operation @returns {{ok: boolean, matched: number, error?: string}} */
export function apply(operation) {
  let matched = 0;
  try {
    if (operation.op === 'injectCss') return injectCss(operation.css);
    const elements = all(operation.selector);
    matched = elements.length;
    if (matched === 0) return {ok: false, matched, error: `no element matches ${JSON.stringify(operation.selector)}`};
    for (const element of elements) CHANGES[operation.op](element, operation);
    return {ok: true, matched};
  } catch (error) {
    return {ok: false, matched, error: String(error)};
  }
}

/** Add a style sheet to the document and to every component that currently exists. @param {string} css */
function injectCss(css) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  if (sheet.cssRules.length === 0 && css.trim()) return {ok: false, matched: 0, error: 'there is no valid rule in this CSS'};
  const adopting = roots();
  for (const root of adopting) root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
  return {ok: true, matched: adopting.length};
}
