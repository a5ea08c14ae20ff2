/** Reads the page as text or HTML, including the content of components. */
import {shadowsIn} from './deep-selectors.js';

const BLOCK = /^(block|flex|grid|list-item|table|table-row|flow-root)$/;
const SILENT = new Set(['SCRIPT', 'STYLE', 'TEMPLATE', 'NOSCRIPT']);

/** Return HTML, with the shadow roots of components as `<template shadowrootmode>`. @param {Element} element */
export function readHtml(element) {
  const shadowRoots = shadowsIn(element);
  if (element.shadowRoot) shadowRoots.push(element.shadowRoot, ...shadowsIn(/** @type {any} */ (element.shadowRoot)));
  const inner = /** @type {any} */ (element).getHTML({shadowRoots});
  const shell = /** @type {Element} */ (element.cloneNode(false));
  const outer = shell.outerHTML;
  const end = `</${element.localName}>`;
  return outer.endsWith(end) ? `${outer.slice(0, -end.length)}${inner}${end}` : outer;
}

/** Return the visible text, with a line for each block. @param {Element} element */
export function readText(element) {
  /** @type {string[]} */
  const pieces = [];
  walk(element, pieces);
  return pieces.join('').replace(/[ \t]+/g, ' ').replace(/ *\n */g, '\n').replace(/\n{3,}/g, '\n\n').trim();
}

/** @param {Node} node @param {string[]} pieces */
function walk(node, pieces) {
  if (node instanceof Text) return void pieces.push(node.data.replace(/\s+/g, ' '));
  if (!(node instanceof Element) || SILENT.has(node.nodeName)) return;
  const style = getComputedStyle(node);
  if (style.display === 'none' || style.visibility === 'hidden') return;
  const isBlock = BLOCK.test(style.display);
  if (isBlock) pieces.push('\n');
  if (node.nodeName === 'BR') pieces.push('\n');
  for (const child of shown(node)) walk(child, pieces);
  if (isBlock) pieces.push('\n');
  else if (style.display !== 'inline' && style.display !== 'contents') pieces.push(' ');
}

/** Return the rendered children: for a component its shadow tree, for a slot the nodes assigned to it. @param {Element} node */
function shown(node) {
  if (node.shadowRoot) return node.shadowRoot.childNodes;
  if (node instanceof HTMLSlotElement) {
    const assigned = node.assignedNodes();
    return assigned.length > 0 ? assigned : node.childNodes;
  }
  return node.childNodes;
}
