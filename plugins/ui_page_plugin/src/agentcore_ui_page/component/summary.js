/** Summarises the page: its location, its headings, and its controls with a selector for each. */
import {all, shadowsIn} from './deep-selectors.js';

const HEADINGS = 'h1, h2, h3, [role="heading"]';
const CONTROLS = 'a[href], button, input, select, textarea, summary, [role="button"], [role="tab"], [role="option"], [contenteditable="true"]';
const NOTES = '[role="alert"], [role="status"]';

/** @param {Element} element @param {number} maxChars */
export function summarise(element, maxChars) {
  const summary = {
    title: document.title,
    address: `${location.pathname}${location.hash}`,
    view: location.hash.replace(/^#\/?/, '').split(/[/?]/)[0] || 'home',
    agent: chosenAgent(),
    language: document.documentElement.lang,
    theme: document.documentElement.dataset.theme || 'system',
    headings: visible(element, HEADINGS).map((heading) => name(heading)).filter(Boolean).slice(0, 50),
    notes: visible(element, NOTES).map((note) => name(note)).filter(Boolean).slice(0, 20),
    nodes: /** @type {Record<string, string>[]} */ ([]),
  };
  let left = maxChars - JSON.stringify(summary).length;
  const controls = visible(element, CONTROLS);
  for (const control of controls) {
    const node = described(control);
    left -= JSON.stringify(node).length + 1;
    if (left < 0) break;
    summary.nodes.push(node);
  }
  return {summary, isCut: summary.nodes.length < controls.length};
}

function chosenAgent() {
  const [shown] = all('[data-agent]');
  return shown?.getAttribute('data-agent') ?? null;
}

/** @param {Element} element @param {string} selector @returns {Element[]} */
function visible(element, selector) {
  const inner = [element, ...(element.shadowRoot ? [element.shadowRoot] : [])];
  const places = [...inner, ...inner.flatMap((place) => shadowsIn(place))];
  const found = new Set(places.flatMap((place) => [...place.querySelectorAll(selector)]));
  return [...found].filter((each) => /** @type {any} */ (each).checkVisibility({visibilityProperty: true}));
}

/** @param {Element} control @returns {Record<string, string>} */
function described(control) {
  /** @type {Record<string, string>} */
  const node = {role: control.getAttribute('role') ?? role(control), name: name(control), selector: selectorOf(control)};
  const value = /** @type {HTMLInputElement} */ (control).value;
  const isSecret = control instanceof HTMLInputElement && control.type === 'password';
  if (typeof value === 'string' && value && !isSecret && control.localName !== 'button') node.value = value.slice(0, 200);
  if (/** @type {HTMLInputElement} */ (control).disabled) node.state = 'disabled';
  return node;
}

/** @param {Element} control */
function role(control) {
  if (control.localName === 'a') return 'link';
  if (control instanceof HTMLInputElement) return control.type;
  return control.localName;
}

/** @param {Element} element */
function name(element) {
  const own = element.getAttribute('aria-label') ?? element.getAttribute('title') ?? '';
  const labels = /** @type {HTMLInputElement} */ (element).labels;
  const text = own || labels?.[0]?.textContent || element.textContent || element.getAttribute('placeholder') || '';
  return text.replace(/\s+/g, ' ').trim().slice(0, 120);
}

/** Return a selector that finds an element, including the components that contain it. @param {Element} element @returns {string} */
function selectorOf(element) {
  const root = element.getRootNode();
  const own = within(element, /** @type {ParentNode} */ (root));
  return root instanceof ShadowRoot ? `${selectorOf(root.host)} >>> ${own}` : own;
}

/** @param {Element} element @param {ParentNode} root */
function within(element, root) {
  const tag = element.localName;
  const candidates = [element.id && `${tag}#${CSS.escape(element.id)}`, tag];
  for (const attribute of ['name', 'aria-label', 'href', 'title', 'type']) {
    const value = element.getAttribute(attribute);
    if (value !== null) candidates.push(`${tag}[${attribute}=${JSON.stringify(value)}]`);
  }
  for (const candidate of candidates) {
    if (candidate && root.querySelectorAll(candidate).length === 1) return candidate;
  }
  return path(element, root);
}

/** Return the path from the root, by positions among siblings. @param {Element} element @param {ParentNode} root */
function path(element, root) {
  const steps = [];
  for (let at = /** @type {Element | null} */ (element); at && at !== /** @type {any} */ (root); at = at.parentElement) {
    const place = [...(at.parentNode?.children ?? [])].indexOf(at) + 1;
    steps.unshift(`${at.localName}:nth-child(${place})`);
    if (root.querySelectorAll(steps.join(' > ')).length === 1) break;
  }
  return steps.join(' > ');
}
