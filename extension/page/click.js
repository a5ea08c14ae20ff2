/** Simulates pointer clicks: at a position, with the sequence of events that pages expect. */
import {drawnIn, focused, its, nearest, tidy} from './native-properties.js';
import {labelOf, textOf} from './labels.js';
import {centreOf, coverAt, drawingOf, isDisabled, isInert, modalDialog} from './layout.js';
import {drawn, turn} from './chunked-work.js';
import {Refusal, done} from './reply.js';

/** The number of attempts to follow an element that moves away. */
const TRIES = 3;
/** The number of animation frames within which an element must come to rest. */
const FRAMES = 30;
const FOCUSABLE = 'a[href], button, input, select, textarea, summary, [tabindex], [contenteditable]';

/** @param {Element} element @returns {Promise<import('./reply.js').Reply>} */
export async function click(element) {
  const label = nameOf(element);
  const opened = await press(element, label);
  return {...done('clicked', {label}), ...(opened ? {opened} : {})};
}

/** Return the name of an element for replies. @param {Element} element */
export function nameOf(element) {
  return labelOf(element) || textOf(element, 60) || element.localName;
}

/**
 * Press and release the pointer at the centre of an element.
 * @param {Element} element @param {string} label
 * @returns {Promise<string>}  what to open in a new tab, as a URL; empty if nothing
 */
export async function press(element, label) {
  assertUsable(element, label);
  for (let tries = 0; tries < TRIES; tries++) {
    const point = await approach(element, label);
    hover(element, point);
    // the page may have reacted to the pointer by moving the element or covering it
    if (element.isConnected && isUnder(element, point)) return pressAt(element, point);
    await turn();
  }
  throw new Refusal('movedAway', {label});
}

/** @param {Element} element @param {string} label */
export function assertUsable(element, label) {
  if (!element.isConnected) throw new Refusal('notFound');
  if (isDisabled(element)) throw new Refusal('disabled', {label});
  const modal = modalDialog();
  if (isInert(element, modal)) throw new Refusal(modal ? 'behindDialog' : 'inert', {label, by: modal ? labelOf(modal) || textOf(modal, 40) : ''});
}

/** Scroll to an element, wait until it is at rest, and return a point of it that is not covered. @param {Element} element @param {string} label */
async function approach(element, label) {
  const target = drawingOf(element);
  if (!centreOf(target) || isCut(target)) target.scrollIntoView({block: 'center', inline: 'nearest', behavior: 'instant'});
  if (!(await isAtRest(target))) throw new Refusal('moving', {label});
  const points = pointsOf(target);
  if (!points.length) throw new Refusal('notVisible', {label});
  const free = points.find((point) => !coverAt(target, point));
  if (free) return free;
  const cover = coverAt(target, points[0]);
  throw new Refusal('covered', {label, by: cover ? nameOfCover(cover) : ''});
}

/** @param {Element} element @param {{x: number, y: number}} point */
function isUnder(element, point) {
  return !coverAt(drawingOf(element), point);
}

/** Return true if the centre of an element is outside the viewport. @param {Element} element */
function isCut(element) {
  const {left, right, top, bottom} = element.getBoundingClientRect();
  const [x, y] = [(left + right) / 2, (top + bottom) / 2];
  return x < 0 || y < 0 || x > innerWidth || y > innerHeight;
}

/** @param {Element} element */
async function isAtRest(element) {
  if (moves(element)) return true;
  let before = element.getBoundingClientRect();
  for (let frames = 0; frames < FRAMES; frames++) {
    await drawn();
    const now = element.getBoundingClientRect();
    if (now.left === before.left && now.top === before.top && now.width === before.width && now.height === before.height) return true;
    before = now;
  }
  return false;
}

/** Return true if an animation without an end moves an element: that is no movement to wait out. @param {Element} element */
function moves(element) {
  for (let each = /** @type {Element | null} */ (element); each; each = drawnIn(each)) {
    if (its(each).getAnimations().some((one) => one.playState === 'running' && one.effect?.getComputedTiming().endTime === Infinity)) return true;
  }
  return false;
}

/** Return the centre of an element, and further points in case something small covers the centre. @param {Element} element */
function pointsOf(element) {
  const centre = centreOf(element);
  if (!centre) return [];
  const {left, right, top, bottom} = element.getBoundingClientRect();
  const spread = [0.25, 0.75].flatMap((across) => [0.25, 0.75].map((down) => (
    {x: left + (right - left) * across, y: top + (bottom - top) * down})));
  return [centre, ...spread.filter(({x, y}) => x >= 0 && y >= 0 && x < innerWidth && y < innerHeight)];
}

/** @param {Element} cover */
function nameOfCover(cover) {
  const name = labelOf(cover) || textOf(cover, 40);
  return tidy(`<${cover.localName}>${name ? ` ${name}` : ''}`, 60);
}

/** @param {Element} element @param {{x: number, y: number}} point */
function hover(element, point) {
  const at = receiver(element, point);
  for (const name of ['pointerover', 'pointerenter', 'mouseover', 'mouseenter', 'pointermove', 'mousemove']) send(at, name, point);
}

/** @param {Element} element @param {{x: number, y: number}} point */
function pressAt(element, point) {
  const at = receiver(element, point);
  send(at, 'pointerdown', point);
  if (send(at, 'mousedown', point)) focusFor(at);
  // a listener may have removed the element on press; the click then goes to the element now at that point
  const end = at.isConnected ? at : receiver(element, point);
  send(end, 'pointerup', point);
  send(end, 'mouseup', point);
  return clickAt(end, point);
}

/**
 * Click, and return the URL that the extension should open. Browsers open a new tab only for clicks of the user, so the
 * link's URL is returned instead, unless the page handles the click itself.
 * @param {Element} at @param {{x: number, y: number}} point @returns {string}
 */
function clickAt(at, point) {
  const link = nearest(at, 'a[href][target=_blank], area[href][target=_blank]');
  let opened = '';
  /** @param {Event} event */
  const take = (event) => {
    const {href} = /** @type {HTMLAnchorElement} */ (link);
    if (event.defaultPrevented || !/^https?:/.test(href)) return;
    event.preventDefault();
    opened = href;
  };
  if (link) addEventListener('click', take);
  send(at, 'click', point);
  removeEventListener('click', take);
  return opened;
}

/** Return the element that receives pointer events: the element itself, or a descendant at that point. @param {Element} element @param {{x: number, y: number}} point @returns {Element} */
function receiver(element, {x, y}) {
  if (element instanceof HTMLAreaElement) return element;
  const target = drawingOf(element);
  const root = its(target).getRootNode();
  const hit = root instanceof Document || root instanceof ShadowRoot ? its(root).elementFromPoint(x, y) : null;
  return hit && its(target).contains(hit) ? hit : target;
}

/** Move the focus as a mouse press does. @param {Element} at */
function focusFor(at) {
  const next = its(at).closest(FOCUSABLE);
  if (next instanceof HTMLElement) next.focus({preventScroll: true});
  else if (focused() instanceof HTMLElement) /** @type {HTMLElement} */ (focused()).blur();
}

/**
 * Dispatch a pointer event. Return false if the page prevented the default action.
 * @param {Element} at @param {string} name @param {{x: number, y: number}} point
 */
function send(at, name, {x, y}) {
  const isPressed = name.endsWith('down');
  const isEnter = name.endsWith('enter');
  const options = {
    bubbles: !isEnter, cancelable: !isEnter, composed: true, view: window, detail: /down|up|click/.test(name) ? 1 : 0,
    clientX: x, clientY: y, screenX: x + screenX, screenY: y + screenY, button: 0, buttons: isPressed ? 1 : 0,
  };
  const isPointer = name.startsWith('pointer') || name === 'click';
  const event = isPointer
    ? new PointerEvent(name, {...options, pointerId: 1, pointerType: 'mouse', isPrimary: true, pressure: isPressed ? 0.5 : 0})
    : new MouseEvent(name, options);
  return its(at).dispatchEvent(event);
}
