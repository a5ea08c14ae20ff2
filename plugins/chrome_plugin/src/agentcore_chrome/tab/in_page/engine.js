// The selector engine that the driver evaluates in an isolated world of each document, separate from the page's scripts:
// `MARK:NUMBER` finds an element by its reference. `!walk`, `!ready` and `!moved` return a new element, outside of the
// page, whose text is the result; so do `!describe`, `!obstacles` and others of one element. `!label`, `!control` and `!box`
// find another element.

const PARTS_LOADED = 'img[src], script[src], link[rel~=stylesheet][href], iframe[src], frame[src], video[src], audio[src]';
const PENDING_SHOWN = 20;

/** Return the addresses of the parts of the document that have not arrived. */
const listPending = () => {
  const done = new Set(performance.getEntriesByType('resource').map(entry => entry.name));
  const urls = [...its(document).querySelectorAll(PARTS_LOADED)].map(part => part.src || part.href);
  return [...new Set(urls.filter(url => /^https?:/.test(url) && !done.has(url)))];
};

/**
 * Have the page drawn although stylesheets in its head have not arrived. The browser looks anew at a link whose `media` is
 * set, and once there is a body, a stylesheet holds up nothing; it goes on loading, and applies when it is there. As both
 * changes are made in one task, no script and no drawing sees the first one.
 */
const drawWithout = pending => {
  for (const link of its(document).querySelectorAll('link[rel~=stylesheet][href]')) {
    if (link.sheet || !pending.includes(link.href)) continue;
    const media = link.getAttribute('media');
    link.setAttribute('media', 'print');
    if (media === null) link.removeAttribute('media');
    else link.setAttribute('media', media);
  }
};

const PERMISSIONS = ['geolocation', 'notifications', 'camera', 'microphone', 'clipboard-read', 'midi'];

/** Return the permissions that the page has requested since the last time. */
const takeRequestedPermissions = () => {
  const asked = [];
  for (const permission of PERMISSIONS) {
    const options = { once: true, capture: true };
    addEventListener(`${ASKED_EVENT}-${permission}`, () => asked.push(permission), options);
  }
  EventTarget.prototype.dispatchEvent.call(document, new Event(ASKED_EVENT));
  return asked;
};

const make = () => {
  const numbers = new WeakMap();
  const elements = new Map();
  const mark = String(crypto.getRandomValues(new BigUint64Array(1))[0]).padStart(12, '1').slice(-12);
  const heard = new WeakSet();
  let count = 0;
  let moves = 0;
  let observer = null;
  const keyOf = (node, isReferred) => {
    let number = numbers.get(node);
    if (number === undefined) numbers.set(node, number = ++count);
    if (isReferred) elements.set(number, node);
    return number;
  };
  const forgetGone = () => {
    for (const [number, element] of elements) if (!its(element).isConnected) elements.delete(number);
  };
  addEventListener(HEARD_EVENT, event => {
    event.stopImmediatePropagation();
    heard.add(event.composedPath()[0]);
  }, true);
  const observe = () => {
    if (observer) return;
    observer = new MutationObserver(records => { moves += records.length; });
    const seen = { subtree: true, childList: true, attributes: true, characterData: true };
    observer.observe(document, seen);
    for (const element of its(document).querySelectorAll('*')) {
      if (its(element).shadowRoot) observer.observe(its(element).shadowRoot, seen);
    }
  };
  const verbs = {
    ready: () => mark,
    pending: () => {
      const pending = listPending();
      drawWithout(pending);
      return pending.slice(0, PENDING_SHOWN);
    },
    moved: () => {
      observe();
      return [mark, moves, its(document).readyState];
    },
    describe: root => {
      const tree = new Tree(keyOf, heard);
      return { key: `${mark}:${keyOf(root, true)}`, description: tree.describe(root), byLabel: tree.isOperatedByLabel(root) };
    },
    approach: (root, readsField) => {
      const found = verbs.describe(root);
      const [peculiarity, ...place] = peculiarityOf(root);
      Object.assign(found, { peculiarity, place, takesKeys: takesKeysForAnother(root) });
      return readsField ? { ...found, field: WORK.readField(root), obstacles: verbs.obstacles(root) } : found;
    },
    at: (root, x, y) => {
      let hit = its(document).elementFromPoint(x, y);
      while (its(hit)?.shadowRoot?.elementFromPoint(x, y) && its(hit).shadowRoot.elementFromPoint(x, y) !== hit) {
        hit = its(hit).shadowRoot.elementFromPoint(x, y);
      }
      const tree = new Tree(keyOf, heard);
      return hit ? tree.describe(tree.controlAround(hit)) : 'nothing';
    },
    window: (root, x, y) => {
      const isInView = x >= scrollX && x < scrollX + innerWidth && y >= scrollY && y < scrollY + innerHeight;
      if (x !== undefined && !isInView) scrollTo({ left: x - innerWidth / 2, top: y - innerHeight / 2, behavior: 'instant' });
      return [mark, scrollX, scrollY, innerWidth, innerHeight, devicePixelRatio];
    },
    obstacles: root => {
      const tree = new Tree(keyOf, heard);
      const part = its(root).firstElementChild ?? withBox(root);
      its(getComputedStyle(root).display === 'contents' ? part : root).scrollIntoViewIfNeeded();
      return { isHidden: tree.isOutOfSight(root), cover: tree.coverOf(root), disabler: tree.disablerOf(root) };
    },
    peculiarity: peculiarityOf,
    coveredByItsOwn: isCoveredByItsOwn,
    drawnOver: isDrawnOver,
    caretAtEnd: putCaretAtEnd,
    clickArea: root => its(root).click(),
    requestedPermissions: takeRequestedPermissions,
    focused: () => {
      const { activeElement, body, documentElement } = its(document);
      let element = activeElement ?? body ?? documentElement;
      for (let inner; (inner = its(element).shadowRoot?.activeElement);) element = inner;
      return { key: `${mark}:${keyOf(element, true)}`, isFrame: ['iframe', 'frame'].includes(its(element).localName) };
    },
    isInert: root => its(root).closest('[inert]') !== null,
    isActivated: () => navigator.userActivation.isActive,
    hasContent: () => its(document).body?.firstElementChild != null,
    state: () => [its(document).title, its(document).readyState],
    contentType: () => its(document).contentType,
    walk: (root, deepest) => {
      observer?.disconnect();
      observer = null;
      forgetGone();
      const tree = new Tree(keyOf, heard);
      const lines = tree.lines(root, deepest);
      return [mark, lines, its(document).title, scrollY > 0 ? tree.firstInView() : 0];
    },
  };
  /** Write the result of work into an element; what a promise resolves to follows later. */
  const writeResult = (answer, work) => {
    if (!(work instanceof Promise)) {
      answer.textContent = JSON.stringify({ value: work });
      return;
    }
    const fail = error => { answer.textContent = JSON.stringify({ failure: String(error) }); };
    work.then(value => writeResult(answer, value)).catch(fail);
  };
  const others = { label: visibleLabelOf, box: withBox, control: label => label.control };
  const find = reference => {
    const [of, number] = reference.split(':');
    const element = of === mark ? elements.get(Number(number)) : null;
    return its(element)?.isConnected ? [element] : [];
  };
  return {
    find(root, said) {
      if (!said.startsWith('!')) return find(said);
      const [verb, ...numbers] = said.slice(1).split(' ');
      if (verb in others) return [others[verb](root)].filter(Boolean);
      const carrier = its(document).createElement('pre');
      if (verb === 'run') {
        const [name, ...given] = JSON.parse(decodeURIComponent(numbers[0]));
        writeResult(carrier, WORK[name](root, ...given));
      } else {
        carrier.textContent = JSON.stringify(verbs[verb](root, ...numbers.map(Number)) ?? null);
      }
      return [carrier];
    },
  };
};
/**
 * Make a property for the parent skip forms with misleading properties. The driver reads forms directly, in this world too,
 * and would never get from a field to its form's parent if a field is named `parentElement`.
 */
const passOver = name => {
  const { get, ...rest } = Object.getOwnPropertyDescriptor(Node.prototype, name);
  const misleads = node => node instanceof HTMLFormElement && (node[name] !== get.call(node)
    || ['getAttribute', 'hasAttribute', 'matches', 'contains'].some(one => typeof node[one] !== 'function'));
  const above = node => {
    let parent = get.call(node);
    while (misleads(parent)) parent = get.call(parent);
    return parent;
  };
  Object.defineProperty(Node.prototype, name, { ...rest, get() { return above(this); } });
};
if (customElements === null) ['parentElement', 'parentNode'].forEach(passOver);
// an isolated world has no `customElements`
const known = customElements === null ? globalThis.__agentcoreRefs ??= make() : { find: () => [] };
return {
  query: (root, said) => known.find(root, said)[0] ?? null,
  queryAll: (root, said) => known.find(root, said),
};
