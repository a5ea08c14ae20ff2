// Evaluated in a page by scrolling.py: the scroll area at an element or, without one, the areas that a user would scroll.
(start, isSideways) => {
  const { scrollingElement, documentElement, body } = its(document);
  const page = scrollingElement ?? documentElement;
  const STEP = 0.8, AREAS = 5, JUMPS = 12, LINE_CHARS = 80;
  const ROWS = '[role=row], tr, li, p, h1, h2, h3, h4, pre';

  const overflowOf = e => getComputedStyle(e)[isSideways ? 'overflowX' : 'overflowY'];
  const hasMore = e => {
    const {scrollWidth, clientWidth, scrollHeight, clientHeight} = its(e);
    return isSideways ? scrollWidth > clientWidth + 1 : scrollHeight > clientHeight + 1;
  };
  const canScroll = e => hasMore(e) && (e === page
    ? ![documentElement, body].some(one => one && overflowOf(one) === 'hidden')
    : /auto|scroll|overlay/.test(overflowOf(e)));
  function* all(root) {
    for (const e of its(root).querySelectorAll('*')) {
      yield e;
      if (its(e).shadowRoot) yield* all(its(e).shadowRoot);
    }
  }
  const boxOf = e => e === page ? new DOMRect(0, 0, innerWidth, innerHeight) : its(e).getBoundingClientRect();
  const seen = e => {
    const box = boxOf(e);
    const width = Math.min(box.right, innerWidth) - Math.max(box.left, 0);
    return Math.max(0, width) * Math.max(0, Math.min(box.bottom, innerHeight) - Math.max(box.top, 0));
  };
  const inside = root => [...all(root)].filter(e => e !== page && its(e).checkVisibility() && canScroll(e))
    .sort((a, b) => seen(b) - seen(a));
  const parentOf = e => its(e).parentElement ?? its(e).getRootNode().host;
  const above = e => {
    for (; e; e = parentOf(e)) if (canScroll(e)) return [e];
    return [];
  };
  const areasAt = e => {
    if (canScroll(e)) return [e];
    const within = inside(e);
    return within.length ? within : above(e);
  };
  const found = start ? areasAt(start).slice(0, 1) : [...canScroll(page) ? [page] : [], ...inside(document)].slice(0, AREAS);
  const areas = found.length ? found : [page];
  let area = areas[0];

  // Grids and long lists render the rows of a position frames after scrolling there, on a busy machine much later. So the
  // visible content is checked: while a part is empty, or everything is where it was before, wait for more.
  const SAMPLES = 10, ACROSS = [0.1, 0.3, 0.5, 0.7, 0.9], CHILDREN = 1000, LEVELS = 12, TEXT_CHARS = 200;
  const QUIET_FRAMES = 2, FRAMES = 12, PATIENCE_MS = 1000, LONGEST_MS = 4000, STILL = 2;
  const SHOWS = 'img, svg, canvas, video, iframe, object, input, textarea, select, button, hr';
  let observed = null, changes = 0, missed = 0;
  const observer = new MutationObserver(records => { changes += records.length; });
  const observe = () => {
    if (observed === area) return;
    observer.disconnect();
    observer.observe(area, {subtree: true, childList: true, attributes: true, characterData: true});
    [observed, changes, missed] = [area, 0, 0];
  };
  // wait for a frame, or for a moment, as a background page gets no frames
  const frame = () => new Promise(done => {
    setTimeout(done, 120);
    requestAnimationFrame(() => setTimeout(done));
  });
  const isWithin = e => {
    for (; e && area !== page; e = parentOf(e)) if (e === area) return true;
    return area === page;
  };
  const hitAt = (x, y) => {
    let hit = document.elementFromPoint(x, y);
    for (let inner; (inner = its(hit)?.shadowRoot?.elementFromPoint(x, y)) && inner !== hit;) hit = inner;
    return hit;
  };
  /** Return the element that shows something at a height, within the element that was hit there. */
  const shownIn = (e, y, levels = LEVELS) => {
    const { children, childNodes } = its(e);
    if (its(e).matches(SHOWS) || [...childNodes].some(one => one instanceof Text && one.data.trim())) return e;
    if (!levels || children.length > CHILDREN) return e;
    for (const child of children) {
      const box = its(child).getBoundingClientRect();
      const found = box.top <= y && y < box.bottom && shownIn(child, y, levels - 1);
      if (found) return found;
    }
    return null;
  };
  /** Return what is visible from top to bottom: elements with their position and text; null: nothing; undefined: covered. */
  const view = () => {
    const box = boxOf(area), top = Math.max(box.top, 0), height = Math.min(box.bottom, innerHeight) - top;
    return Array.from({length: SAMPLES}, (_, i) => {
      const y = top + height * (i + 0.5) / SAMPLES;
      const hits = [...new Set(ACROSS.map(part => hitAt(box.left + box.width * part, y)))].filter(isWithin);
      if (!hits.length) return undefined;
      const e = hits.map(hit => shownIn(hit, y)).find(Boolean);
      if (!e) return null;
      const at = its(e).getBoundingClientRect();
      return {e, left: at.left, top: at.top, text: its(e).textContent.slice(0, TEXT_CHARS)};
    });
  };
  const isThere = (before, now) => {
    if (now.some((one, i) => one === null && now[i + 1] === null)) return false;
    const isAsBefore = one => before.some(old => old && Object.keys(one).every(key => old[key] === one[key]));
    const shown = now.filter(Boolean);
    return !before || !shown.length || !shown.every(isAsBefore);
  };
  /** Wait until the visible content is rendered and at rest, and return true if it is. If nothing ever changes, the wait is short. */
  const arrive = async (before = null, until = Infinity) => {
    const began = performance.now();
    let seen = changes, moved = began, frames = 0;
    for (;;) {
      await frame();
      const now = performance.now();
      [frames, moved] = changes === seen ? [frames + 1, moved] : [0, now];
      seen = changes;
      const isDrawn = isThere(before, view());
      if (isDrawn && (frames >= QUIET_FRAMES || now - began > PATIENCE_MS)) return true;
      const isStill = changes === 0 && missed >= STILL ? frames > QUIET_FRAMES
        : frames >= FRAMES && now - moved > PATIENCE_MS;
      if (isStill || now - began > LONGEST_MS || now > until) {
        missed += !isDrawn;
        return isDrawn;
      }
    }
  };
  /** Scroll the area to a position, and return true if the position changed. */
  const goTo = async (top, left, until) => {
    observe();
    const {scrollTop, scrollLeft} = its(area), before = view();
    its(area).scrollTo({top, left, behavior: 'instant'});
    const hasMoved = () => its(area).scrollTop !== scrollTop || its(area).scrollLeft !== scrollLeft;
    await arrive(hasMoved() ? before : null, until);
    return hasMoved();
  };
  const lineAt = y => {
    const box = boxOf(area);
    const texts = [0.02, 0.1, 0.3, 0.5, 0.7].map(part => document.elementFromPoint(box.left + box.width * part, y))
      .map(hit => its(hit)?.closest(ROWS) ?? hit).filter(row => area === page || its(area).contains(row))
      .map(row => its(row)?.innerText?.trim().replace(/\s+/g, ' ')).filter(Boolean);
    // the shortest text: the element hit next to a row may contain all rows
    return texts.sort((a, b) => a.length - b.length)[0]?.slice(0, LINE_CHARS) ?? '';
  };
  const lineFrom = (y, step) => [0, 1, 2, 3, 4].map(i => lineAt(y + i * step)).find(Boolean) ?? '';
  const nameOf = e => e === page ? 'page' : its(e).localName + (its(e).id ? `#${its(e).id}` : [...its(e).classList].map(c => `.${c}`).join(''));
  const state = () => {
    const box = boxOf(area);
    return {
      area: nameOf(area).slice(0, 100), scrollTop: Math.round(its(area).scrollTop), scrollHeight: its(area).scrollHeight,
      clientHeight: area === page ? innerHeight : its(area).clientHeight, scrollLeft: Math.round(its(area).scrollLeft),
      scrollWidth: its(area).scrollWidth, first: lineFrom(Math.max(0, box.top) + 8, 12),
      last: lineFrom(Math.min(innerHeight, box.bottom) - 8, -12),
    };
  };

  const move = async (direction, amount) => {
    const {scrollTop, scrollLeft, scrollHeight} = its(area);
    const [right, down] = {up: [0, -amount], down: [0, amount], left: [-amount, 0], right: [amount, 0]}[direction] ?? [0, 0];
    const top = {to_top: 0, to_bottom: scrollHeight}[direction] ?? scrollTop + down;
    const moved = await goTo(top, scrollLeft + right);
    return {...state(), moved, grew: its(area).scrollHeight - scrollHeight};
  };

  const plain = text => text.replace(/\s+/g, ' ').toLowerCase();
  const finder = (text, selector) => () => {
    const root = area === page ? document : area;
    if (selector) return [...its(root).querySelectorAll(selector)].find(e => its(e).checkVisibility());
    const wanted = plain(text), has = e => plain(its(e).innerText ?? '').includes(wanted);
    let e = area === page ? body : area;
    if (!plain(its(e).textContent).includes(wanted) || !has(e)) return undefined;
    for (let inner = e; inner; inner = [...its(inner).children].find(has)) e = inner;
    return e;
  };
  // numbered rows show the distance to another row; measured between two in the middle, as a header does not move
  const jump = async (find, selector, until) => {
    const [, attribute, number] = selector?.match(/\[([\w-]+)\s*=\s*["']?(\d+)["']?\s*\]/) ?? [];
    for (let i = 0; attribute && i < JUMPS && !find(); i++) {
      const tops = new Map([...area.querySelectorAll(`[${attribute}]`)].filter(e => e.checkVisibility())
        .map(e => [Number(e.getAttribute(attribute)), e.getBoundingClientRect().top]));
      if (tops.has(Number(number))) return sweep(find, until);
      const rows = [...tops].sort((a, b) => a[0] - b[0]), middle = Math.floor(rows.length / 2);
      if (rows.length < 2) return;
      const [[low, top], [high, below]] = [rows[middle - 1], rows[middle]];
      const height = (below - top) / (high - low);
      const down = top + (Number(number) - low) * height - boxOf(area).top - its(area).clientHeight / 2;
      if (!await goTo(its(area).scrollTop + down, its(area).scrollLeft, until)) return;
    }
  };
  // the row exists, but columns may be rendered only while scrolling, too
  const sweep = async (find, until) => {
    await goTo(its(area).scrollTop, 0, until);
    while (!find() && await goTo(its(area).scrollTop, its(area).scrollLeft + Math.max(1, its(area).clientWidth * STEP), until));
  };
  /** Return true if more content is added at the end, as in infinite lists. */
  const grows = async until => {
    const height = its(area).scrollHeight, began = performance.now();
    for (let frames = 0; frames < FRAMES || performance.now() - began < PATIENCE_MS; frames++) {
      if (its(area).scrollHeight > height) return true;
      if (performance.now() > until) return false;
      await frame();
    }
    return false;
  };
  // from the current position to the end, then from the top to where it started
  const walk = async (find, until) => {
    const began = its(area).scrollTop;
    await arrive(null, until);
    for (let hasTurned = false; performance.now() < until;) {
      if (find() || (hasTurned && its(area).scrollTop >= began)) return true;
      if (await goTo(its(area).scrollTop + Math.max(1, its(area).clientHeight * STEP), its(area).scrollLeft, until)) continue;
      if (hasTurned) return true;
      if (await grows(until)) continue;
      if (find() || began === 0) return true;
      hasTurned = true;
      await goTo(0, its(area).scrollLeft, until);
    }
    return false;
  };
  const search = async (text, selector, budget) => {
    const until = performance.now() + budget, find = finder(text, selector);
    let isOver = true, empty = 0;
    for (area of areas) {
      observe();
      await jump(find, selector, until);
      isOver = await walk(find, until);
      const e = find();
      // if nothing ever changes, an empty part is really empty
      empty += changes && missed;
      if (!e && isOver) continue;
      e?.scrollIntoView({block: 'center', inline: 'nearest', behavior: 'instant'});
      await arrive(null, until);
      return {...state(), found: !!e, isOver, empty};
    }
    return {...state(), found: false, isOver, empty};
  };
  /** Wrap a function so that the page's changes are no longer observed once it is done. */
  const ending = work => (...given) => work(...given).finally(() => {
    observer.disconnect();
    observed = null;
  });
  return {arrive, state, move: ending(move), search: ending(search)};
}
