/** Positions of elements, and whether a user could reach them. Read-only. */
import {attribute, drawnIn, elementAt, holds, its, nearest, rootOf} from './native-properties.js';

/** @typedef {{left: number, top: number, right: number, bottom: number, width: number, height: number}} Box */

/** Return true if an element is visible once it is scrolled into view. @param {Element} element @param {Box} box */
export function isShown(element, box) {
  const picture = pictureOf(element);
  if (picture) return isShown(picture, box);
  if (box.width < 2 || box.height < 2) return isDrawnByLabel(element);
  if (!its(element).checkVisibility({checkVisibilityCSS: true})) return false;
  return its(element).checkVisibility({checkOpacity: true}) || isDrawnByLabel(element);
}

/** Return where an element is in the viewport; for an area of an image map, where the image is. @param {Element} element @returns {Box} */
export function boxOf(element) {
  return (pictureOf(element) ?? element).getBoundingClientRect();
}

/** Return the image that shows an area; null for any other element. @param {Element} element @returns {Element | null} */
function pictureOf(element) {
  const name = element instanceof HTMLAreaElement ? element.closest('map')?.name : '';
  return name ? its(rootOf(element) ?? document).querySelector(`img[usemap="#${CSS.escape(name)}"]`) : null;
}

/** Return true if a visible label renders the control. Check boxes, radio buttons and file fields are often hidden this way. @param {Element} element */
function isDrawnByLabel(element) {
  if (!(element instanceof HTMLInputElement) || !['checkbox', 'radio', 'file'].includes(element.type)) return false;
  return [...element.labels ?? []].some((label) => label.checkVisibility({checkOpacity: true, checkVisibilityCSS: true}));
}

/** Return true if any part of an element is in the viewport. @param {Box} box */
export function isInWindow(box) {
  return box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth && box.width > 0 && box.height > 0;
}

/** Return what a user would click: the element, or the label that renders it. @param {Element} element @returns {Element} */
export function drawingOf(element) {
  const picture = pictureOf(element);
  if (picture) return picture;
  const box = element.getBoundingClientRect();
  const isSeen = box.width > 1 && box.height > 1 && its(element).checkVisibility({checkOpacity: true, checkVisibilityCSS: true});
  if (isSeen || !('labels' in element)) return element;
  return [.../** @type {HTMLInputElement} */ (element).labels ?? []].find((label) => isInWindow(label.getBoundingClientRect())) ?? element;
}

/**
 * Return a point in the viewport where a click hits the element; null if no part of it is there. Uses the first client
 * rect, as the centre of the bounding box of a link wrapped over two lines may be outside the link.
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
 * Return what covers an element at a point; null if nothing does.
 * @param {Element} element @param {{x: number, y: number}} point
 */
export function coverAt(element, {x, y}) {
  const hit = elementAt(x, y);
  if (!hit) return element.ownerDocument.documentElement;
  if (holds(element, hit) || isHostOf(hit, element) || isLabelOf(hit, element) || pictureOf(hit) === element) return null;
  return hit;
}

/** Return true if an element is in the shadow tree of the hit element. @param {Element} hit @param {Element} element */
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

/** Return the topmost modal dialog; null if none is open. */
export function modalDialog() {
  const open = [...its(document).querySelectorAll('dialog:modal')];
  if (open.length < 2) return open[0] ?? null;
  // the dialog opened last is on top
  return open.find((dialog) => {
    const point = centreOf(dialog);
    return point && holds(dialog, elementAt(point.x, point.y));
  }) ?? open.at(-1) ?? null;
}

/** Return true if an element is blocked by a modal dialog or is inside an inert element. @param {Element} element @param {Element | null} modal */
export function isInert(element, modal) {
  if (modal && !holds(modal, element)) return true;
  return nearest(element, '[inert]') !== null;
}

/** @param {Element} element */
export function isDisabled(element) {
  return its(element).matches(':disabled') || attribute(element, 'aria-disabled') === 'true';
}
