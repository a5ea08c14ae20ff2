// What clicking an element needs to know of it, read in the engine's own world.

/** Return the nearest element around one that has a box of its own; the element itself if it has one. */
const withBox = element => {
  let around = element;
  while (its(around).parentElement && getComputedStyle(around).display === 'contents') around = its(around).parentElement;
  return around;
};

/** Return the middle of an element without a box, from the padding edge of the nearest element that has one. */
const placeOf = element => {
  const around = its(withBox(element));
  const box = boxOf(element);
  const outer = around.getBoundingClientRect();
  return [
    box.x + box.width / 2 - outer.x - around.clientLeft + around.scrollLeft,
    box.y + box.height / 2 - outer.y - around.clientTop + around.scrollTop,
  ];
};

/**
 * Return why an element cannot be clicked like others: `area`, a part of an image's map, is not drawn, so that there is
 * nothing to click; `contents` has no box, with the place of its content; an animation without an end `moves`, and is no
 * movement that ends if one waits for it; in a page with fields for `files`, a click may open a chooser.
 */
const peculiarityOf = element => {
  if (element.localName === 'area') return ['area'];
  if (getComputedStyle(element).display === 'contents') return ['contents', ...placeOf(element)];
  const isEndless = one => one.playState === 'running' && one.effect?.getComputedTiming().endTime === Infinity;
  for (let e = element; e; e = its(e).parentElement ?? its(e).getRootNode().host) {
    if (its(e).getAnimations().some(isEndless)) return ['moves'];
  }
  return [its(document).querySelector('input[type=file i]') ? 'files' : ''];
};

/** Return true if what covers an element is in the same component, such as the tags of a multiple choice. */
const isCoveredByItsOwn = element => {
  const root = its(element).getRootNode();
  const box = its(element).getBoundingClientRect();
  if (!(root instanceof ShadowRoot)) return false;
  const hit = root.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  return hit !== null && root.contains(hit);
};

/**
 * Return true if an element is the field by which an editor that renders its text itself receives keys: tiny or invisible.
 * The visible part is above or around it, and is what a user clicks to place the caret.
 */
const takesKeysForAnother = element => {
  const isTiny = e => { const box = its(e).getBoundingClientRect(); return box.width <= 2 || box.height <= 2; };
  const isClipped = e => isTiny(e) && getComputedStyle(e).overflow !== 'visible';
  const takesText = element.localName === 'textarea' || its(element).isContentEditable || element.editContext;
  if (!takesText || its(element).matches(':disabled')) return false;
  let around = its(element).parentElement;
  if (!isTiny(element) && getComputedStyle(element).opacity !== '0' && !(around && isClipped(around))) return false;
  while (around && isTiny(around)) around = its(around).parentElement;
  its(around)?.scrollIntoViewIfNeeded();
  const box = its(around)?.getBoundingClientRect();
  const hit = box && its(around).getRootNode().elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  return !!hit && (its(around).contains(hit) || its(hit).contains(around));
};

const visibleLabelOf = element => [...element.labels ?? []].find(label => label.getBoundingClientRect().width > 0) ?? null;

/** Return true if a library has drawn over a native check box, inside of its label. */
const isDrawnOver = element => {
  its(element).scrollIntoViewIfNeeded();
  const box = its(element).getBoundingClientRect();
  const label = its(element).closest('label');
  const hit = its(element).getRootNode().elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
  return !!label && !!hit && hit !== element && label.contains(hit) && !its(hit).closest('a');
};

const putCaretAtEnd = element => {
  if (its(element).isContentEditable) {
    getSelection().selectAllChildren(element);
    getSelection().collapseToEnd();
    return;
  }
  try { element.setSelectionRange(element.value.length, element.value.length); } catch { /* a type without a caret */ }
};
