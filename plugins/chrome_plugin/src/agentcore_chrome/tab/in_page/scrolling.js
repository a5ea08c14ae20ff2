// Evaluated in a page by scrolling.py: what scrolls at an element, or, without one, what a person would scroll.
(start, isSideways) => {
  const page = document.scrollingElement ?? document.documentElement;
  const STEP = 0.8, AREAS = 5, JUMPS = 12, LINE_CHARS = 80;
  const ROWS = '[role=row], tr, li, p, h1, h2, h3, h4, pre';

  const overflowOf = e => getComputedStyle(e)[isSideways ? 'overflowX' : 'overflowY'];
  const hasMore = e => (isSideways ? e.scrollWidth > e.clientWidth + 1 : e.scrollHeight > e.clientHeight + 1);
  const canScroll = e => hasMore(e) && (e === page
    ? ![document.documentElement, document.body].some(one => one && overflowOf(one) === 'hidden')
    : /auto|scroll|overlay/.test(overflowOf(e)));
  function* all(root) {
    for (const e of root.querySelectorAll('*')) {
      yield e;
      if (e.shadowRoot) yield* all(e.shadowRoot);
    }
  }
  const boxOf = e => e === page ? new DOMRect(0, 0, innerWidth, innerHeight) : e.getBoundingClientRect();
  const seen = e => {
    const box = boxOf(e);
    const width = Math.min(box.right, innerWidth) - Math.max(box.left, 0);
    return Math.max(0, width) * Math.max(0, Math.min(box.bottom, innerHeight) - Math.max(box.top, 0));
  };
  const inside = root => [...all(root)].filter(e => e !== page && e.checkVisibility() && canScroll(e))
    .sort((a, b) => seen(b) - seen(a));
  const above = e => {
    for (; e; e = e.parentElement ?? e.getRootNode().host) if (canScroll(e)) return [e];
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

  // a frame; or a moment, for a page behind another gets no frames
  const drawn = () => new Promise(done => {
    setTimeout(done, 120);
    requestAnimationFrame(() => setTimeout(done, 30));
  });
  const lineAt = y => {
    const box = boxOf(area);
    const texts = [0.02, 0.1, 0.3, 0.5, 0.7].map(part => document.elementFromPoint(box.left + box.width * part, y))
      .map(hit => hit?.closest(ROWS) ?? hit).filter(row => area === page || area.contains(row))
      .map(row => row?.innerText?.trim().replace(/\s+/g, ' ')).filter(Boolean);
    // the shortest: beside a row is what holds all rows
    return texts.sort((a, b) => a.length - b.length)[0]?.slice(0, LINE_CHARS) ?? '';
  };
  const lineFrom = (y, step) => [0, 1, 2, 3, 4].map(i => lineAt(y + i * step)).find(Boolean) ?? '';
  const nameOf = e => e === page ? 'page' : e.localName + (e.id ? `#${e.id}` : [...e.classList].map(c => `.${c}`).join(''));
  const state = () => {
    const box = boxOf(area);
    return {
      area: nameOf(area).slice(0, 100), scrollTop: Math.round(area.scrollTop), scrollHeight: area.scrollHeight,
      clientHeight: area === page ? innerHeight : area.clientHeight, scrollLeft: Math.round(area.scrollLeft),
      scrollWidth: area.scrollWidth, first: lineFrom(Math.max(0, box.top) + 8, 12),
      last: lineFrom(Math.min(innerHeight, box.bottom) - 8, -12),
    };
  };

  const move = async (direction, amount) => {
    const {scrollTop, scrollLeft, scrollHeight} = area;
    const [right, down] = {up: [0, -amount], down: [0, amount], left: [-amount, 0], right: [amount, 0]}[direction] ?? [0, 0];
    const top = {to_top: 0, to_bottom: scrollHeight}[direction] ?? scrollTop + down;
    area.scrollTo({top, left: scrollLeft + right, behavior: 'instant'});
    await drawn();
    const moved = area.scrollTop !== scrollTop || area.scrollLeft !== scrollLeft;
    return {...state(), moved, grew: area.scrollHeight - scrollHeight};
  };

  const plain = text => text.replace(/\s+/g, ' ').toLowerCase();
  const finder = (text, selector) => () => {
    const root = area === page ? document : area;
    if (selector) return [...root.querySelectorAll(selector)].find(e => e.checkVisibility());
    const wanted = plain(text), has = e => plain(e.innerText ?? '').includes(wanted);
    let e = area === page ? document.body : area;
    if (!plain(e.textContent).includes(wanted) || !has(e)) return undefined;
    for (let inner = e; inner; inner = [...inner.children].find(has)) e = inner;
    return e;
  };
  // rows that carry their number say how far it is to another; two from the middle, for a head stays where it is
  const jump = async (find, selector) => {
    const [, attribute, number] = selector?.match(/\[([\w-]+)\s*=\s*["']?(\d+)["']?\s*\]/) ?? [];
    for (let i = 0; attribute && i < JUMPS && !find(); i++) {
      const tops = new Map([...area.querySelectorAll(`[${attribute}]`)].filter(e => e.checkVisibility())
        .map(e => [Number(e.getAttribute(attribute)), e.getBoundingClientRect().top]));
      if (tops.has(Number(number))) return sweep(find);
      const rows = [...tops].sort((a, b) => a[0] - b[0]), middle = Math.floor(rows.length / 2), before = area.scrollTop;
      if (rows.length < 2) return;
      const [[low, top], [high, below]] = [rows[middle - 1], rows[middle]];
      const height = (below - top) / (high - low);
      area.scrollTop += top + (Number(number) - low) * height - boxOf(area).top - area.clientHeight / 2;
      await drawn();
      if (area.scrollTop === before) return;
    }
  };
  // the row is there, and columns may be made as one goes, too
  const sweep = async find => {
    area.scrollLeft = 0;
    for (let before = -1; await drawn(), !find() && area.scrollLeft !== before;) {
      before = area.scrollLeft;
      area.scrollLeft += Math.max(1, area.clientWidth * STEP);
    }
  };
  // from where it is to the end, and then from the top to where it was
  const walk = async (find, until) => {
    const began = area.scrollTop;
    for (let hasTurned = false; performance.now() < until;) {
      const before = area.scrollTop;
      if (find() || (hasTurned && before >= began)) return true;
      area.scrollTop += Math.max(1, area.clientHeight * STEP);
      await drawn();
      if (area.scrollTop !== before) continue;
      if (hasTurned || began === 0) return true;
      [hasTurned, area.scrollTop] = [true, 0];
      await drawn();
    }
    return false;
  };
  const search = async (text, selector, budget) => {
    const until = performance.now() + budget, find = finder(text, selector);
    let isOver = true;
    for (area of areas) {
      await jump(find, selector);
      isOver = await walk(find, until);
      const e = find();
      if (!e && isOver) continue;
      e?.scrollIntoView({block: 'center', inline: 'nearest', behavior: 'instant'});
      await drawn();
      return {...state(), found: !!e, isOver};
    }
    return {...state(), found: false, isOver};
  };
  return {drawn, state, move, search};
}
