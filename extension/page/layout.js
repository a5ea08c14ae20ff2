/** Where elements are, and whether a person could get at them. Everything here reads, nothing writes. */
import {attribute, drawnIn, elementAt, holds, its, nearest, rootOf} from './own.js';

/** @typedef {{left: number, top: number, right: number, bottom: number, width: number, height: number}} Box */

/** Whether a person sees an element when it is scrolled to. @param {Element} element @param {Box} box */
export function isShown(element, box) {
  if (box.width < 2 || box.height < 2) return isDrawnByLabel(element);
  if (!its(element).checkVisibility({checkVisibilityCSS: true})) return false;
  return its(element).checkVisibility({checkOpacity: true}) || isDrawnByLabel(element);
}

/** Check boxes, radios and file fields are often made invisible, and drawn by what is around them. @param {Element} element */
function isDrawnByLabel(element) {
  if (!(element instanceof HTMLInputElement) || !['checkbox', 'radio', 'file'].includes(element.type)) return false;
  return [...element.labels ?? []].some((label) => label.checkVisibility({checkOpacity: true, checkVisibilityCSS: true}));
}

/** Whether any of an element is in the window. @param {Box} box */
export function isInWindow(box) {
  return box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth && box.width > 0 && box.height > 0;
}

/** What a person would click: an element, or the label that draws it. @param {Element} element @returns {Element} */
export function drawingOf(element) {
  const box = element.getBoundingClientRect();
  const isSeen = box.width > 1 && box.height > 1 && its(element).checkVisibility({checkOpacity: true, checkVisibilityCSS: true});
  if (isSeen || !('labels' in element)) return element;
  return [.../** @type {HTMLInputElement} */ (element).labels ?? []].find((label) => isInWindow(label.getBoundingClientRect())) ?? element;
}

/**
 * The point of an element that a click hits, in the window; null: none of it is there.
 * The first box of a link over two lines: the middle of all of it may be beside it.
 * @param {Element} element @returns {{x: number, y: number} | null}
 */
export function centreOf(element) {
  for (const {left, top, right, bottom} of element.getClientRects()) {
    const box = {left: Math.max(left, 0), top: Math.max(top, 0), right: Math.min(right, innerWidth), bottom: Math.min(bottom, innerHeight)};
    if (box.right - box.left >= 1 && box.bottom - box.top >= 1) return {x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2};
  }
  return null;
}

/**
 * What takes a click in the place of an element; null: nothing does.
 * @param {Element} element @param {{x: number, y: number}} point
 */
export function coverAt(element, {x, y}) {
  const hit = elementAt(x, y);
  if (!hit) return element.ownerDocument.documentElement;
  if (holds(element, hit) || isHostOf(hit, element) || isLabelOf(hit, element)) return null;
  return hit;
}

/** What has an element in its shadow is drawn by it. @param {Element} hit @param {Element} element */
function isHostOf(hit, element) {
  for (let root = rootOf(element); root instanceof ShadowRoot; root = rootOf(root.host)) if (root.host === hit) return true;
  return false;
}

/** @param {Element} hit @param {Element} element */
function isLabelOf(hit, element) {
  for (let each = /** @type {Element | null} */ (hit); each; each = drawnIn(each)) {
    if (each instanceof HTMLLabelElement && each.control === element) return true;
  }
  return false;
}

/** The modal dialog that all else waits for; null: none is open. */
export function modalDialog() {
  const open = [...its(document).querySelectorAll('dialog:modal')];
  if (open.length < 2) return open[0] ?? null;
  // the one that was opened last is drawn over the others
  return open.find((dialog) => {
    const point = centreOf(dialog);
    return point && holds(dialog, elementAt(point.x, point.y));
  }) ?? open.at(-1) ?? null;
}

/** Whether an element waits for a modal dialog, or was made unusable with what is around it. @param {Element} element @param {Element | null} modal */
export function isInert(element, modal) {
  if (modal && !holds(modal, element)) return true;
  return nearest(element, '[inert]') !== null;
}

/** @param {Element} element */
export function isDisabled(element) {
  return its(element).matches(':disabled') || attribute(element, 'aria-disabled') === 'true';
}
