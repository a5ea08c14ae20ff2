/** Scrolls the page or a scroll container, or brings an element into view. */
import {drawnIn, elementAt, its} from './native-properties.js';
import {nameOf} from './click.js';
import {turn} from './chunked-work.js';
import {Refusal, done} from './reply.js';

/** The part of the viewport scrolled in one step; the rest overlaps for orientation. */
const STEP = 0.8;

/**
 * @param {Element | null} element  null: the main scroll container
 * @param {string | undefined} direction  `up`, `down`, `top`, `bottom`; none: scroll the element into view
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

/** Return the page's scroll container, or the one in the middle of the viewport if the page itself cannot scroll. @param {string} direction */
function scrollerOfPage(direction) {
  const root = rootScroller();
  if (hasRoom(root, direction)) return root;
  const middle = elementAt(innerWidth / 2, innerHeight / 2);
  return middle ? scrollerAround(middle, direction) : root;
}

function rootScroller() {
  return its(document).scrollingElement ?? its(document).documentElement;
}
