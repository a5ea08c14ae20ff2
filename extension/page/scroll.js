/** Scrolls the page, what scrolls in it, or an element into sight. */
import {drawnIn, elementAt, its} from './own.js';
import {nameOf} from './click.js';
import {turn} from './pace.js';
import {Refusal, done} from './reply.js';

/** How much of the window one step is: a person reads on at what was last. */
const STEP = 0.8;

/**
 * @param {Element | null} element  null: what fills the window
 * @param {string | undefined} direction  `up`, `down`, `top`, `bottom`; none: into sight
 * @returns {Promise<import('./reply.js').Reply>}
 */
export async function scroll(element, direction) {
  if (!direction) {
    if (!element) throw new Refusal('noDirection');
    element.scrollIntoView({block: 'center', inline: 'nearest', behavior: 'instant'});
    return done('scrolledTo', {label: nameOf(element)});
  }
  const box = element ? scrollerAround(element, direction) : scrollerOfPage(direction);
  const before = box.scrollTop;
  const step = box.clientHeight * STEP;
  const top = {up: before - step, down: before + step, top: 0, bottom: box.scrollHeight}[direction] ?? before;
  box.scrollTo({top, behavior: 'instant'});
  await turn();
  const room = box.scrollHeight - box.clientHeight;
  if (Math.abs(box.scrollTop - before) < 1) return done(before < 1 && direction !== 'down' && direction !== 'bottom' ? 'atTop' : 'atBottom');
  return done('scrolled', {percent: room > 0 ? Math.round((box.scrollTop / room) * 100) : 100});
}

/** @param {Element} box @param {string} direction */
function hasRoom(box, direction) {
  if (box.scrollHeight - box.clientHeight < 2) return false;
  if (box !== its(document).scrollingElement && !/auto|scroll|overlay/.test(getComputedStyle(box).overflowY)) return false;
  const isUp = direction === 'up' || direction === 'top';
  return isUp ? box.scrollTop > 0 : box.scrollTop < box.scrollHeight - box.clientHeight - 1;
}

/** @param {Element} element @param {string} direction */
function scrollerAround(element, direction) {
  for (let each = /** @type {Element | null} */ (element); each; each = drawnIn(each)) if (hasRoom(each, direction)) return each;
  return rootScroller();
}

/** The page, or what takes its place in an application: what scrolls in the middle of the window. @param {string} direction */
function scrollerOfPage(direction) {
  const root = rootScroller();
  if (hasRoom(root, direction)) return root;
  const middle = elementAt(innerWidth / 2, innerHeight / 2);
  return middle ? scrollerAround(middle, direction) : root;
}

function rootScroller() {
  return its(document).scrollingElement ?? its(document).documentElement;
}
