/** Computes the names of elements. */
import {attribute, its, rootOf, tidy} from './native-properties.js';

const UNNAMED = new Set(['script', 'style', 'noscript', 'template', 'select', 'textarea', 'input', 'iframe']);
/** The maximum number of nodes inspected for the name of one element. */
const NODES_OF_NAME = 200;
const BUTTONS = new Set(['submit', 'reset', 'button', 'image']);

/** Labels by the control that they label. Collected during the walk through the page, as `element.labels` searches the whole document. */
export class Labels {
  constructor() {
    /** @type {WeakMap<Element, HTMLLabelElement[]>} */
    this._of = new WeakMap();
  }

  /** @param {Element} element */
  add(element) {
    if (!(element instanceof HTMLLabelElement) || !element.control) return;
    const known = this._of.get(element.control);
    if (known) known.push(element);
    else this._of.set(element.control, [element]);
  }

  /** @param {Element} element @returns {HTMLLabelElement[]} */
  of(element) {
    return this._of.get(element) ?? [];
  }
}

/** Labels of single elements, looked up through the browser. */
export const ASKED = {
  /** @param {Element} element @returns {HTMLLabelElement[]} */
  of(element) {
    return 'labels' in element ? [.../** @type {HTMLInputElement} */ (element).labels ?? []] : [];
  },
};

/** Return the name of an element; empty if it has none. @param {Element} element @param {{of(element: Element): HTMLLabelElement[]}} [labels] */
export function labelOf(element, labels = ASKED) {
  return byIds(element, 'aria-labelledby') || tidy(attribute(element, 'aria-label'))
    || tidy(labels.of(element).map((label) => textOf(label)).join(' '))
    || native(element) || tidy(attribute(element, 'title')) || placeholderOf(element)
    || ofHost(element) || tidy(attribute(element, 'name').replace(/[_\-[\].]+/g, ' ')) || addressed(element);
}

/** Return the placeholder of a field. @param {Element} element */
export function placeholderOf(element) {
  return tidy(attribute(element, 'placeholder') || attribute(element, 'aria-placeholder') || attribute(element, 'data-placeholder'));
}

/** @param {Element} element @param {string} name */
function byIds(element, name) {
  const ids = attribute(element, name);
  const root = ids ? rootOf(element) : null;
  if (!root) return '';
  return tidy(ids.split(/\s+/).slice(0, 8).map((id) => {
    const label = id ? its(root).getElementById(id) : null;
    return label ? textOf(label) : '';
  }).join(' '));
}

/** @param {Element} element */
function native(element) {
  if (element instanceof HTMLInputElement) {
    if (!BUTTONS.has(element.type)) return '';
    // browsers localise these two names
    return tidy(element.value || element.alt) || {submit: 'Submit', reset: 'Reset'}[element.type] || '';
  }
  if (element instanceof HTMLAreaElement) return tidy(element.alt);
  if (element.localName === 'textarea' || element.localName === 'select') return '';
  // the content of an editor is not its name
  const isEdited = element instanceof HTMLElement && element.isContentEditable;
  return isEdited || /^(?:textbox|searchbox|spinbutton)$/.test(attribute(element, 'role')) ? '' : textOf(element);
}

/** Return the name given by the shadow host of an element. @param {Element} element */
function ofHost(element) {
  const root = rootOf(element);
  if (!(root instanceof ShadowRoot)) return '';
  const {host} = root;
  return tidy(attribute(host, 'label') || attribute(host, 'aria-label') || attribute(host, 'placeholder') || attribute(host, 'title'));
}

/** Return the last path segment of a link. @param {Element} element */
function addressed(element) {
  if (!(element instanceof HTMLAnchorElement)) return '';
  return tidy(element.pathname.split('/').filter(Boolean).at(-1) ?? element.host, 40);
}

/** Return the visible text of an element, on one line. @param {Element} element @param {number} [limitChars] */
export function textOf(element, limitChars = 120) {
  const parts = /** @type {string[]} */ ([]);
  let nodes = 0;
  let chars = 0;
  /** @param {Node} node */
  const visit = (node) => {
    if (++nodes > NODES_OF_NAME || chars > 2 * limitChars) return;
    if (node instanceof Text) {
      parts.push(node.data);
      chars += node.data.trim().length;
    } else if (node instanceof Element) {
      visitElement(node);
    }
  };
  /** @param {Element} inner */
  const visitElement = (inner) => {
    if (UNNAMED.has(inner.localName) || attribute(inner, 'aria-hidden') === 'true') return;
    if (inner !== element && !isSeenIn(inner)) return;
    if (inner !== element && its(inner).hasAttribute('aria-label')) parts.push(` ${attribute(inner, 'aria-label')} `);
    else if (inner instanceof HTMLImageElement) parts.push(` ${inner.alt} `);
    else if (inner instanceof SVGElement) parts.push(` ${inner.querySelector(':scope > title')?.textContent ?? ''} `);
    else for (const child of childrenOf(inner)) visit(child);
    parts.push(' ');
  };
  visitElement(element);
  return tidy(parts.join(''), limitChars);
}

/** Return true if the content of an element is visible. @param {Element} inner */
export function isSeenIn(inner) {
  // checkVisibility() is false for display: contents, whose content is visible nonetheless
  return its(inner).checkVisibility({checkVisibilityCSS: true}) || getComputedStyle(inner).display === 'contents';
}

/** Return the rendered children: for a shadow host its shadow tree, for a slot the nodes assigned to it. @param {Element} element @returns {Iterable<Node>} */
function childrenOf(element) {
  if (element.shadowRoot) return element.shadowRoot.childNodes;
  if (element instanceof HTMLSlotElement) {
    const given = element.assignedNodes();
    if (given.length) return given;
  }
  return its(element).childNodes;
}
