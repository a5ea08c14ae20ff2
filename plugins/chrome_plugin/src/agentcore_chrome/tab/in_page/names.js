// The accessible name of an element (https://www.w3.org/TR/accname-1.2/), without text from style sheets unless there
// is nothing else.

const HIDDEN_PASSWORD = '•••';
const TYPED_INTO = new Set(['text', 'password', 'number', 'search', 'tel', 'email', 'url']);
const BUTTON_INPUTS = { submit: 'Submit', reset: 'Reset', image: 'Submit', button: '' };

const tidy = text => text.replace(/[\u200b\u00ad]/g, '').replace(/\s+/g, ' ').trim();

/** Return the value of a field; for a password only a placeholder. */
function valueOf(element) {
  return element.type === 'password' && element.value ? HIDDEN_PASSWORD : element.value;
}

/** The styles of elements, computed once per walk. */
class Styles {
  constructor() { this.known = new Map(); }
  of(element) {
    let style = this.known.get(element);
    if (style === undefined) {
      const { display, visibility, cursor, overflow } = getComputedStyle(element);
      style = { display, visible: visibility === 'visible', cursor, overflow };
      this.known.set(element, style);
    }
    return style;
  }
}

/** Return the rendered child nodes: for a shadow host its shadow tree, for a slot the nodes assigned to it. */
function childrenOf(element) {
  const { shadowRoot, localName, childNodes } = its(element);
  if (shadowRoot) return shadowRoot.childNodes;
  if (localName === 'slot') {
    const assigned = element.assignedNodes();
    if (assigned.length) return assigned;
  }
  return childNodes;
}

const SKIPPED = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'HEAD', 'LINK', 'META', 'TITLE']);
const NOT_DRAWN = new Set(['style', 'script', 'defs', 'symbol', 'metadata', 'desc']);
/** Return true if an element is not rendered. The title of an SVG is not rendered either, but names it. */
function isSkipped(element) {
  if (!(element instanceof SVGElement)) return SKIPPED.has(tagOf(element));
  return NOT_DRAWN.has(element.localName) || (element.localName === 'title' && element.parentNode?.localName === 'svg');
}

/**
 * Return the box of an element. One with `display: contents` has none: it is drawn as its content alone, and that has the
 * box which a user sees and clicks.
 */
function boxOf(element) {
  const own = its(element).getBoundingClientRect();
  if (own.width || own.height || getComputedStyle(element).display !== 'contents') return own;
  const parts = [];
  for (const child of childrenOf(element)) {
    if (child instanceof Element) parts.push(boxOf(child));
    else if (child instanceof Text) {
      const range = new Range();
      range.selectNode(child);
      parts.push(range.getBoundingClientRect());
    }
  }
  const drawn = parts.filter(part => part.width && part.height);
  if (!drawn.length) return own;
  const left = Math.min(...drawn.map(part => part.left));
  const top = Math.min(...drawn.map(part => part.top));
  const right = Math.max(...drawn.map(part => part.right));
  const bottom = Math.max(...drawn.map(part => part.bottom));
  return new DOMRect(left, top, right - left, bottom - top);
}

class Names {
  constructor(styles) { this.styles = styles; this.texts = new Map(); this.labelled = new Map(); }

  /** Return the name of an element; empty if it has none. */
  of(element, role) {
    const read = its(element);
    if (!role || NAMELESS.has(role)) return tidy(read.getAttribute('aria-label') || this.prompt(read, role));
    return tidy(this.byIds(read, 'aria-labelledby') || read.getAttribute('aria-label') || this.native(element)
      || (NAMED_BY_CONTENT.has(role) ? this.content(element, role) : '') || read.getAttribute('title')
      || this.prompt(read, role));
  }

  /** Return the placeholder or description of an editor without a name. */
  prompt(element, role) {
    if (role !== 'textbox' && !element.hasAttribute('contenteditable')) return '';
    return element.getAttribute('aria-placeholder') || element.getAttribute('data-placeholder')
      || this.byIds(element, 'aria-describedby');
  }

  byIds(element, attribute) {
    const ids = element.getAttribute(attribute);
    if (!ids) return '';
    const root = element.getRootNode();
    return ids.split(/\s+/).map(id => {
      const label = id && root.getElementById?.(id);
      return label ? this.text(label, inner => inner === element) : '';
    }).join(' ');
  }

  native(element) {
    switch (tagOf(element)) {
      case 'INPUT':
        if (element.type in BUTTON_INPUTS) {
          return this.labels(element) || element.value || element.alt || element.title || BUTTON_INPUTS[element.type];
        }
        return this.labels(element) || element.title || (TYPED_INTO.has(element.type) ? element.placeholder : '')
          || (element.type === 'file' ? 'Choose file' : '');
      case 'TEXTAREA': return this.labels(element) || element.title || element.placeholder;
      case 'SELECT': case 'METER': case 'PROGRESS': case 'OUTPUT': case 'BUTTON': return this.labels(element);
      case 'FIELDSET': return this.ofChild(element, 'LEGEND');
      case 'FIGURE': return this.ofChild(element, 'FIGCAPTION');
      case 'TABLE': return this.ofChild(element, 'CAPTION');
      case 'SVG': return this.ofChild(element, 'TITLE');
      case 'OPTGROUP': return element.label;
      case 'IMG': case 'AREA': return element.alt;
      default: return '';
    }
  }

  labels(element) {
    return (this.labelsIn(element.getRootNode()).get(element) ?? [])
      .map(label => this.text(label, inner => inner === element)).join(' ');
  }

  /** Return all labels of a document or shadow root by their control, as looking them up per element searches all of them. */
  labelsIn(root) {
    let labels = this.labelled.get(root);
    if (labels === undefined) {
      labels = Map.groupBy(root.querySelectorAll?.('label') ?? [], label => label.control);
      this.labelled.set(root, labels);
    }
    return labels;
  }

  ofChild(element, tag) {
    const child = [...element.children].find(one => one.tagName.toUpperCase() === tag);
    return child ? (tag === 'TITLE' ? child.textContent : this.text(child)) : '';
  }

  content(element, role) {
    // the items below a tree item are not part of its name
    const isOmitted = role === 'treeitem' ? inner => /^(group|treeitem)$/.test(roleOf(inner)) : undefined;
    return tidy(this.text(element, isOmitted)) || this.drawn(element);
  }

  /** Return the text of an element, except for omitted elements. */
  text(element, isOmitted) {
    const known = this.texts.get(element);
    if (known !== undefined && !isOmitted) return known;
    let text = '';
    for (const child of childrenOf(element)) {
      if (child.nodeType === Node.TEXT_NODE) text += child.data;
      else if (child.nodeType === Node.ELEMENT_NODE && !isOmitted?.(child)) text += this.embedded(child, isOmitted);
    }
    if (!isOmitted) this.texts.set(element, text);
    return text;
  }

  embedded(element, isOmitted) {
    const read = its(element);
    if (isSkipped(element) || read.getAttribute('aria-hidden') === 'true') return '';
    const style = this.styles.of(element);
    if (style.display === 'none' || (!style.visible && style.display !== 'contents')) return '';
    const text = read.getAttribute('aria-label') ?? this.replaced(element) ?? this.text(element, isOmitted);
    return style.display === 'inline' || style.display === 'contents' ? text : ` ${text} `;
  }

  /** Return the text of an element that is represented by something other than its content. */
  replaced(element) {
    switch (tagOf(element)) {
      case 'IMG': return element.alt || element.title;
      case 'SVG': return this.ofChild(element, 'TITLE');
      case 'INPUT': return element.type in INPUTS ? '' : valueOf(element);
      case 'TEXTAREA': return element.value;
      case 'SELECT': return element.selectedOptions[0]?.text ?? '';
      case 'BR': return ' ';
      default: return undefined;
    }
  }

  /** Return the text that a style sheet inserts into an element, without characters of icon fonts. */
  drawn(element) {
    for (const place of ['::before', '::after']) {
      const written = getComputedStyle(element, place).content.match(/^"(.*)"$/)?.[1].replace(/[\ue000-\uf8ff]/g, '').trim();
      if (written) return written;
    }
    return '';
  }
}
