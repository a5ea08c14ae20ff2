// The page as a tree of short lines, created in one walk: what is there and what is interactive, without repetition.

const LINE_CHARS = 2000;
const NAME_CHARS = 400;
const URL_CHARS = 200;
const HINT_CHARS = 40;
const OPTIONS = 30;
const DEEPEST = 300;
/** The maximum length of a text that is the name of an element without a name by its role. */
const OWN_TEXT_CHARS = 200;
/** The maximum depth of parts below a container that listens for their clicks. */
const PART_LEVELS = 4;
const MANY = 20;
/** SVG images up to this size are icons. */
const ICON = 48;
const LABELLED = new Set(['checkbox', 'radio', 'file']);
const SCROLLED = new Set(['auto', 'scroll', 'overlay']);
const INLINE_HANDLERS = ['onclick', 'ondblclick', 'onmousedown', 'onmouseup', 'onpointerdown', 'onpointerup',
  'ontouchstart', 'ontouchend', 'ondragstart', 'ondrop'];

const cut = (text, limit) => (text.length > limit ? `${text.slice(0, limit)}… (${text.length} characters)` : text);
/** Put text on one line, so that no text of a page can look like a line of its own. */
const onOneLine = text => cut(text, LINE_CHARS).replace(/\r?\n|[\r\u2028\u2029\u0085\v\f]/g, '\\n');
const quoted = text => JSON.stringify(cut(text, NAME_CHARS));

/** Return the box of the image whose map an area is part of: an area is not drawn, and has none of its own. */
const imageBoxOf = area => {
  const map = area.closest('map')?.name ?? '';
  const image = [...area.getRootNode().querySelectorAll('img[usemap]')].find(one => one.useMap === `#${map}`);
  return (image ?? area).getBoundingClientRect();
};

/** Return the lines of a text that keeps them, with what separates texts between them. */
const linesOf = node => node.data.split('\n').flatMap((line, number) => [...(number ? [null] : []), { node, text: line }]);

class Tree {
  /**
   * @param keyOf returns the number of a node, and remembers it
   * @param heard the elements that scripts listen to
   */
  constructor(keyOf, heard) {
    const { documentElement, body } = its(document);
    this.keyOf = keyOf;
    this.heard = heard;
    this.isPage = element => element === documentElement || element === body;
    this.styles = new Styles();
    this.names = new Names(this.styles);
    this.nodes = [];
  }

  /**
   * Return the lines of a part of the page: `[depth, key, kind, head, rest, description]`; kind 1: interactive, 2: a frame,
   * 3: both. Only interactive elements are described.
   */
  lines(root, deepest) {
    const around = { pointer: false, parts: 0, inside: false, hides: false, depth: 0 };
    const items = root instanceof Document
      ? this.below(its(root).documentElement, around) : this.element(root, around);
    const lines = [];
    this.write(joined(items), 0, deepest ?? Infinity, lines);
    return lines;
  }

  /** Return the number of the first node that starts in or below the viewport. */
  firstInView() {
    const isAbove = node => {
      const box = its(node instanceof Text ? node.parentElement : node).getBoundingClientRect();
      return box.height === 0 || box.top < 0;
    };
    const first = this.nodes.find(node => !isAbove(node));
    return first ? this.keyOf(first) : 0;
  }

  // An item is a line `{node, role, name, states, acts, items}`, a text `{node, text}`, or null, which separates the texts
  // before and after it.

  below(element, around) {
    const items = [];
    const inner = around.depth >= DEEPEST ? null : { ...around, depth: around.depth + 1 };
    if (inner === null) return [{ node: element, text: its(element).textContent }];
    const isClosed = element.localName === 'details' && !element.open;
    for (const child of childrenOf(element)) {
      if (isClosed && child.localName !== 'summary') continue;
      if (child instanceof Text) {
        if (!around.hides && child.data) items.push(...(around.keepsLines ? linesOf(child) : [{ node: child, text: child.data }]));
      } else if (child instanceof Element && !isSkipped(child)) {
        for (const item of this.element(child, inner)) items.push(item);
      }
    }
    inRowOrder(items);
    return items;
  }

  element(element, around) {
    const style = this.styles.of(element);
    const isArea = element.localName === 'area';
    if ((style.display === 'none' && !isArea) || element.hidden === 'until-found') return [];
    if (LABELLED.has(element.type) && this.isBehindLabel(element)) return [];
    const isShown = isArea ? imageBoxOf(element).width > 0 : style.visible || style.display === 'contents';
    let role = roleOf(element);
    const control = element.localName === 'label' ? this.hiddenControl(element) : null;
    if (control) role = roleOf(control);
    let why = isShown ? this.actedOn(element, role, style, around, control) : '';
    const inner = {
      pointer: style.cursor === 'pointer',
      parts: why.startsWith('container') ? PART_LEVELS : around.parts && around.parts - 1,
      inside: around.inside || (why !== '' && NAMED_BY_CONTENT.has(role) && !HOLDS_PARTS.has(role)),
      hides: !isShown,
      depth: around.depth,
      keepsLines: around.keepsLines || element.localName === 'pre',
    };
    const isBlock = style.display !== 'inline' && style.display !== 'contents';
    const items = this.itemsOf(element, role, inner, control);
    if (!isShown) return items;
    // a container that listens for its interactive content needs no reference of its own
    if (why === 'container that listens' && items.some(holdsActed)) why = '';
    if (!role && STANDS_BACK.test(why)) {
      const said = joined(items);
      if (said.length === 1 && said[0].acts) return said;
    }
    const line = this.line(control ?? element, element, role, why, items);
    if (line) return [line];
    return isBlock && items.length ? [null, ...items, null] : element.localName === 'br' ? [null] : items;
  }

  /** Return role and name of an element, whatever is around it. The text of what is not named by its role is its name. */
  describe(element) {
    const control = element.localName === 'label' ? this.hiddenControl(element) : null;
    const role = roleOf(control ?? element);
    const name = control ? this.labelText(element, control) : this.names.of(element, role) || this.ownText(element, role);
    const word = role || (its(element).isContentEditable ? 'textbox' : its(element).localName);
    return name ? `${word} ${quoted(name)}` : word;
  }

  /** Return the control that an element is part of, or else the element. */
  controlAround(element) {
    for (let one = element; one; one = its(one).parentElement ?? its(one).getRootNode().host) {
      if (ACTED_ON.has(roleOf(one))) return one;
    }
    return element;
  }

  labelText(label, control) {
    return tidy(this.names.text(label, inner => inner === control));
  }

  /** Return the text of an element that stands for one thing; areas and editors change theirs, and remain what they are. */
  ownText(element, role) {
    if (role && !PARTS.has(role)) return '';
    if (this.isPage(element) || its(element).isContentEditable || this.scrolls(element)) return '';
    if (its(element).textContent.length > MANY * OWN_TEXT_CHARS) return '';
    const text = tidy(this.names.text(element));
    return text.length > OWN_TEXT_CHARS ? '' : text;
  }

  /** Return true if a user operates an element by its visible label, as it is hidden itself. */
  isOperatedByLabel(element) {
    return LABELLED.has(element.type) && this.isBehindLabel(element);
  }

  /** Return true if an element cannot be seen. The field of a list widget may be transparent: its value is drawn below it. */
  isOutOfSight(element) {
    const checkOpacity = roleOf(element) !== 'combobox' || element.localName === 'select';
    // the options' first names, which browsers of shells before Chromium 121 know, too
    const isShown = getComputedStyle(element).visibility === 'visible'
      && its(withBox(element)).checkVisibility({ checkVisibilityCSS: true, checkOpacity });
    const box = boxOf(element);
    if (!box.width || !box.height || !isShown) return true;
    return box.right <= 0 || box.bottom <= 0 || box.left >= innerWidth || box.top >= innerHeight;
  }

  /** Return what is above the middle of an element; empty if nothing is, or only parts of the same control. */
  coverOf(element) {
    const box = boxOf(element);
    const root = its(element).getRootNode();
    const hit = root.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
    if (!hit || its(hit).contains(element) || its(element).contains(hit)) return '';
    if (root instanceof ShadowRoot && root.contains(hit)) return '';  // inside one component
    if (its(hit).closest('label')?.control === element) return '';
    let cover = hit;
    const above = one => its(one).parentElement;
    while (above(cover) && !its(above(cover)).contains(element)) cover = above(cover);
    return this.describe(cover);
  }

  /** Return what disables an element other than its own attribute. */
  disablerOf(element) {
    const above = its(element).parentElement?.closest('fieldset:disabled, [aria-disabled=true]');
    return above ? this.describe(above) : '';
  }

  itemsOf(element, role, inner, control) {
    if (!this.holds(element, role)) return [];
    const items = this.below(element, inner);
    const labelled = element.localName === 'label' && !control ? element.control : null;
    return labelled ? withoutName(joined(items), this.names.of(labelled, roleOf(labelled)), true) : items;
  }

  /** Return true if an element's content is shown other than by its name or value. */
  holds(element, role) {
    if (role === 'iframe' || element.localName === 'select' || element.localName === 'textarea') return false;
    if (element.localName === 'svg') return isDrawing(element);
    return role !== 'img' && element.localName !== 'canvas' && element.localName !== 'video';
  }

  /** Return the line for an element; null if it adds nothing, and its content takes its place. */
  line(element, shown, role, why, items) {
    const acts = why !== '';
    if ((!role || role === 'iframe') && !acts) return null;
    const name = element === shown ? this.names.of(element, role) : this.labelText(shown, element);
    if (PLAIN.has(role) && !acts && !name) return null;
    let inner = joined(items);
    if (role === 'cell' && !acts) return { node: shown, role: 'cell', name: '', states: '', acts, items: inner };
    if (name && NAMED_BY_CONTENT.has(role)) inner = withoutName(inner, name, acts);
    const value = this.value(element, role);
    if (value) inner = [{ node: element, text: value }];
    const only = inner.length === 1 && inner[0].role ? inner[0] : null;
    if (!acts && only && (role === 'listitem' || role === 'paragraph' || role === 'list')) return only;
    if (!acts && role === 'list' && !name) return null;
    if (!acts && !name && !inner.length) return null;
    const line = {
      node: shown, role: role || this.word(element, why), name: only?.name === name ? '' : name,
      states: statesOf(element, role) + this.more(element, role, why, name || inner.length > 0), acts, items: inner,
    };
    if (role === 'row') mergeCells(line);
    if (element.localName === 'select') this.addOptions(line, element);
    return line;
  }

  /** Return the word for an interactive element without a role. */
  word(element, why) {
    return why === 'edit' ? 'textbox' : why === 'scroll' ? 'area' : 'clickable';
  }

  more(element, role, why, holdsText) {
    let more = '';
    if (why === 'edit') more += ' [editable]';
    if (!role && STANDS_BACK.test(why) && !holdsText) more += hintOf(element);
    if (why && this.scrolls(element)) more += ' [scrollable]';
    if (isDraggable(element)) more += ' [draggable]';
    const address = role === 'link' ? element.getAttribute('href') ?? element.getAttribute('xlink:href') : null;
    if (address && !/^(javascript:|data:)/i.test(address)) more += ` [url=${cut(tidy(address), URL_CHARS)}]`;
    return more;
  }

  /** Return why an element is interactive: `role`, `edit`, `scroll`, `pointer`, `container` …; empty if it is not. */
  actedOn(element, role, style, around, control) {
    const isPointer = style.cursor === 'pointer' && !around.pointer;
    const read = its(element);
    const isEditable = read.isContentEditable && !its(read.parentElement)?.isContentEditable;
    const listens = this.heard.has(element) || INLINE_HANDLERS.some(name => read.hasAttribute(name));
    const isDragged = isDraggable(element);
    let why = '';
    if (element.localName === 'label' && element.control && !control) return '';  // the control is interactive itself
    if (isEditable) why = 'edit';
    else if (control || this.isControl(element, role)) why = 'role';
    else if (this.isPage(element)) return '';
    else if (isDragged) why = 'pointer';
    else if (around.inside) why = '';
    else if (around.parts && PARTS.has(role)) why = 'role';
    else if (isPointer || listens) {
      why = !this.isContainer(element, role) ? 'pointer' : isPointer ? 'container' : 'container that listens';
    }
    if (!why && this.scrolls(element)) why = 'scroll';
    if (!why) return '';
    const needsPointer = why !== 'role' && why !== 'edit';
    if (needsPointer && getComputedStyle(element).pointerEvents === 'none') return '';
    const box = element.localName === 'area' ? imageBoxOf(element) : boxOf(element);
    if ((!box.width || !box.height) && !takesKeysUnseen(element, role, why)) return '';
    return read.getAttribute('aria-hidden') === 'true' && getComputedStyle(element).opacity === '0' ? '' : why;
  }

  isControl(element, role) {
    element = its(element);
    if (ACTED_ON.has(role) && role !== 'option') return role !== 'scrollbar' || element.tabIndex >= 0;
    if (role === 'option') return element.localName !== 'option';  // the options of a select are listed in its line, or below it
    if (role === 'iframe' || element.localName === 'canvas') return true;
    if ((element.localName === 'video' || element.localName === 'audio') && element.controls) return true;
    return element.hasAttribute('tabindex') && element.tabIndex >= 0 && element.localName !== 'body';
  }

  /** Return true if clicks on an element may be meant for one of its parts. */
  isContainer(element, role) {
    return !NAMED_BY_CONTENT.has(role) && its(element).childElementCount > 1;
  }

  scrolls(element) {
    const { display, overflow } = this.styles.of(element);
    if (overflow === 'visible' || display === 'inline' || element.localName === 'textarea') return false;
    if (this.isPage(element)) return false;
    const read = its(element);
    if (read.clientHeight < MANY || read.clientWidth < MANY) return false;
    const [across, down = across] = overflow.split(' ');
    return (SCROLLED.has(down) && read.scrollHeight > read.clientHeight + MANY)
      || (SCROLLED.has(across) && read.scrollWidth > read.clientWidth + MANY);
  }

  /** Return the check box, radio button or file field of a label, if only the label can be seen and clicked. */
  hiddenControl(label) {
    const control = label.control;
    if (!control || !LABELLED.has(control.type)) return null;
    const box = control.getBoundingClientRect();
    if (box.width <= 1 || box.height <= 1) return control;
    const { visibility, opacity, pointerEvents } = getComputedStyle(control);
    return visibility !== 'visible' || opacity === '0' || pointerEvents === 'none' ? control : null;
  }

  isBehindLabel(control) {
    const labels = this.names.labelsIn(control.getRootNode()).get(control) ?? [];
    return labels.some(label => this.hiddenControl(label) && label.getBoundingClientRect().width > 0);
  }

  value(element, role) {
    switch (element.localName) {
      case 'input': return element.type in INPUTS && !['number', 'range', 'color', 'search'].includes(element.type)
        ? [...(element.type === 'file' && element.files) || []].map(file => file.name).join(', ') : valueOf(element);
      case 'textarea': return element.value;
      case 'select': return [...element.selectedOptions].map(option => tidy(option.text)).join(', ');
      case 'progress': case 'meter': return String(element.value);
      default: break;
    }
    if (!['slider', 'spinbutton', 'progressbar', 'meter', 'scrollbar'].includes(role)) return '';
    return element.getAttribute('aria-valuetext') ?? element.getAttribute('aria-valuenow') ?? '';
  }

  addOptions(line, select) {
    const options = [...select.options].filter(option => !option.hidden);
    if (isListSelect(select)) {
      line.items = options.slice(0, OPTIONS * MANY).map(option => this.line(option, option, 'option', 'role', []));
      return;
    }
    const names = options.slice(0, OPTIONS)
      .map(option => tidy(option.text) + (option.matches(':disabled') ? ' [disabled]' : ''));
    if (options.length > OPTIONS) names.push(`… ${options.length - OPTIONS} more`);
    if (options.length > 1) line.items.push({ node: options[0], role: 'options', text: names.join(' | '), items: [] });
  }

  /** Write items as lines; a text that comes first is appended to its parent's line. */
  write(items, depth, deepest, lines) {
    if (depth >= deepest) return;
    for (const item of items) {
      if (item.role === undefined || item.role === 'options') {
        this.nodes.push(item.node);
        lines.push([depth, this.keyOf(item.node), 0, item.role ?? 'text', `: ${onOneLine(item.text)}`, '']);
        continue;
      }
      const first = item.items[0];
      const isText = first !== undefined && first.role === undefined;
      const tail = isText ? `: ${onOneLine(first.text)}` : item.items.length ? ':' : '';
      const head = item.role + (item.name ? ` ${quoted(item.name)}` : '');
      const kind = (item.acts ? 1 : 0) + (item.role === 'iframe' ? 2 : 0);
      this.nodes.push(item.node);
      const description = item.acts ? this.describe(item.node) : '';
      lines.push([depth, this.keyOf(item.node, item.acts), kind, head, item.states + tail, description]);
      this.write(isText ? item.items.slice(1) : item.items, depth + 1, deepest, lines);
    }
  }
}

/** Return true if an SVG image is larger than an icon: a chart, a diagram or a map, whose parts are read and clicked. */
function isDrawing(svg) {
  const { width, height } = svg.getBoundingClientRect();
  return width > ICON && height > ICON;
}

const isListSelect = select => select.multiple || select.size > 1;

const holdsActed = item => Boolean(item?.acts || item?.items?.some(holdsActed));

/** Reasons to be interactive that give way to the only interactive element inside. */
const STANDS_BACK = /^(pointer|container)/;

/** Separators between links carry no information. */
const SEPARATOR = /^[|,;·•»«›‹/–—:]+$/;

/** Sort the rows of a grid that creates them in another order than it shows them. */
function inRowOrder(items) {
  const place = item => (item?.role === 'row' ? Number(item.node.getAttribute('aria-rowindex')) : 0);
  const rows = items.filter(place);
  if (rows.every((row, number) => !number || place(rows[number - 1]) <= place(row))) return;
  rows.sort((one, other) => place(one) - place(other));
  items.forEach((item, number) => { if (place(item)) items[number] = rows.shift(); });
}

/** Return true if an element is the keyboard input of an editor that renders its own text: at most a caret of it is visible. */
function takesKeysUnseen(element, role, why) {
  if (element.matches(':disabled') || element.getAttribute('aria-hidden') === 'true') return false;
  return why === 'edit' || (role === 'textbox' && element.localName !== 'input' && element.tabIndex >= 0);
}

const isDraggable = element => its(element).getAttribute('draggable') === 'true' && its(element).draggable;

/** Return the name that the page's author uses for an element without text. */
function hintOf(element) {
  const { dataset, classList, id } = its(element);
  const name = dataset.testid || id || classList[classList.length - 1];
  return name ? ` [name=${cut(tidy(name), HINT_CHARS)}]` : '';
}

/** Join texts that belong together, and drop empty ones. */
function joined(items) {
  const made = [];
  let text = null;
  const end = () => {
    if (text && !text.isTidy) {
      const indent = text.text.match(/^\u00a0*/)[0].length;  // editors write indentation this way
      text.text = ' '.repeat(indent) + tidy(text.text);
      text.isTidy = true;
    }
    if (text?.text.trim() && !(items.length > 1 && SEPARATOR.test(text.text))) made.push(text);
    text = null;
  };
  for (const item of items) {
    if (item === null) end();
    else if (item.role !== undefined) {
      end();
      made.push(item);
    } else if (text) {
      text.text += item.text;
      text.isTidy = false;
    } else if (item.text.trim()) text = { ...item };
  }
  end();
  return made;
}

/** Return the items that a name made from them does not cover: interactive ones, and texts of their own. */
function withoutName(items, name, acts) {
  const kept = [];
  for (const item of items) {
    if (item.role === undefined) {
      if (!name.includes(item.text)) kept.push(item);
    } else if (item.acts || item.role === 'iframe') {
      const isSame = item.role === 'clickable' && item.items.length === 1 && item.items[0].text === name;
      if (!isSame || !acts) kept.push(item);
    } else if (!acts && item.name && !name.includes(item.name)) kept.push(item);
    else kept.push(...withoutName(item.items, name, acts));
  }
  return kept;
}

/** Merge plain cells into the row's line, with an arrow for each item that is listed below. */
function mergeCells(row) {
  const isCell = item => item.role === 'cell' || item.role === 'rowheader' || item.role === 'columnheader';
  if (!row.items.some(item => isCell(item) && !item.acts)) return;
  const texts = [];
  const below = [];
  for (const item of row.items) {
    if (!isCell(item) || item.acts) {
      below.push(item);
      texts.push(item.role === undefined ? item.text : '↓');
      continue;
    }
    const own = item.name || item.items.filter(one => one.role === undefined).map(one => one.text).join(' ');
    const lines = item.items.filter(one => one.role !== undefined);
    below.push(...lines);
    texts.push(own || (lines.length ? '↓' : ''));
  }
  while (texts.at(-1) === '↓' || texts.at(-1) === '') texts.pop();
  row.items = texts.length ? [{ node: row.node, text: texts.join(' | ') }, ...below] : below;
}
