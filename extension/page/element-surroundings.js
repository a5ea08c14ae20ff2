/** Describes the surroundings of elements with the same name, to tell one “Add to basket” from another. */
import {attribute, drawnIn, holds, its, tidy} from './native-properties.js';
import {labelOf, textOf} from './labels.js';

const HEADINGS = 'h1, h2, h3, h4, h5, h6, [role=heading], legend, caption, th, dt, summary';
const PLACE_CHARS = 60;
/** The number of ancestors searched for surroundings. */
const STEPS = 20;

/**
 * Set the `place` of elements whose descriptions are otherwise equal.
 * @template {{kind: string, label: string, placeholder: string, place: string}} T
 * @param {{element: Element, described: T}[]} all
 */
export function tellApart(all) {
  /** @type {Map<string, {element: Element, described: T}[]>} */
  const groups = new Map();
  for (const each of all) {
    const {kind, label, placeholder} = each.described;
    const key = JSON.stringify([kind, label, placeholder]);
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  for (const group of groups.values()) {
    if (group.length < 2) continue;
    for (const {element, described} of group) {
      described.place = placeOf(element, group.map((other) => other.element).filter((other) => other !== element), described.label);
    }
  }
}

/** Return text that surrounds one element and none of the others. @param {Element} element @param {Element[]} others @param {string} label */
function placeOf(element, others, label) {
  const around = partOf(element, others);
  if (!around) return '';
  const named = tidy(attribute(around, 'aria-label')) || headingIn(around, element);
  const place = named && named !== label ? named : textOf(around, 2 * PLACE_CHARS).replace(label, ' ');
  // it is shown in brackets and before a comma
  return tidy(place.replace(/[(),（），]/g, ' '), PLACE_CHARS);
}

/** Return the largest part of the page that contains this element and none of the others. @param {Element} element @param {Element[]} others */
function partOf(element, others) {
  let part = null;
  let at = drawnIn(element);
  for (let steps = 0; at && steps < STEPS; steps++) {
    const here = at;
    if (others.some((other) => holds(here, other))) break;
    part = here;
    at = drawnIn(here);
  }
  return part;
}

/** @param {Element} part @param {Element} element */
function headingIn(part, element) {
  const heading = [...its(part).querySelectorAll(HEADINGS)].slice(0, 20).find((each) => !holds(each, element));
  return heading ? labelOf(heading) || textOf(heading, PLACE_CHARS) : '';
}
