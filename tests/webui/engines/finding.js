/**
 * Elements of a page as a person finds them, by role, name and text, through shadow roots and slots; run in any engine.
 * One call looks once; whoever asks waits and asks again.
 * @param {{steps: Step[], last: boolean, wants: string, value?: any}} query
 */
(query) => {
  const ROLES = {
    ARTICLE: 'article', ASIDE: 'complementary', BUTTON: 'button', DETAILS: 'group', DIALOG: 'dialog', FIELDSET: 'group', FOOTER: 'contentinfo', HEADER: 'banner',
    H1: 'heading', H2: 'heading', H3: 'heading', H4: 'heading', IMG: 'img', LI: 'listitem', MAIN: 'main', NAV: 'navigation', OL: 'list', OUTPUT: 'status',
    PROGRESS: 'progressbar', SELECT: 'combobox', SUMMARY: 'button', TABLE: 'table', TEXTAREA: 'textbox', TR: 'row', UL: 'list',
  };
  const INPUTS = {button: 'button', checkbox: 'checkbox', number: 'spinbutton', radio: 'radio', range: 'slider', search: 'searchbox', submit: 'button'};
  const NAMED_BY_CONTENT = new Set(['button', 'heading', 'link', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'option', 'row', 'tab']);
  const SILENT = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE']);

  /** What is drawn in an element, in its order. */
  const children = (node) => {
    if (node.shadowRoot) return [...node.shadowRoot.childNodes];
    if (node.tagName === 'SLOT' && node.assignedNodes().length) return node.assignedNodes();
    return [...node.childNodes];
  };
  /** A slot has no box of its own, and what stands in it may be visible all the same. */
  const isShown = (element) => {
    const {display, visibility} = getComputedStyle(element);
    if (display === 'contents') return true;
    return display !== 'none' && visibility === 'visible';
  };
  const words = (text) => text.replace(/[\s\u00a0]+/g, ' ').trim();

  const textOf = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return node.data;
    if (node.nodeType !== Node.ELEMENT_NODE && node.nodeType !== Node.DOCUMENT_FRAGMENT_NODE) return '';
    if (node.nodeType === Node.ELEMENT_NODE && (SILENT.has(node.tagName) || getComputedStyle(node).display === 'none')) return '';
    const inner = children(node).map(textOf).join('');
    const isInline = node.nodeType !== Node.ELEMENT_NODE || /^(inline|contents)/.test(getComputedStyle(node).display);
    return isInline ? inner : ` ${inner} `;
  };
  const roleOf = (element) => {
    const said = element.getAttribute('role')?.split(' ')[0];
    if (said) return said;
    if (element.tagName === 'A') return element.hasAttribute('href') ? 'link' : '';
    if (element.tagName === 'SECTION') return element.hasAttribute('aria-label') || element.hasAttribute('aria-labelledby') ? 'region' : '';
    if (element.tagName === 'INPUT') return INPUTS[element.type] ?? 'textbox';
    return ROLES[element.tagName] ?? '';
  };
  const nameOf = (element) => {
    const root = element.getRootNode();
    const by = (element.getAttribute('aria-labelledby') ?? '').split(' ').map((id) => id && root.getElementById(id)).filter(Boolean);
    if (by.length) return words(by.map(textOf).join(' '));
    const said = element.getAttribute('aria-label') ?? element.ariaLabel;
    if (said) return words(said);
    if (element.labels?.length) return words([...element.labels].map(textOf).join(' '));
    if (element.tagName === 'FIELDSET') return words(textOf(element.querySelector('legend') ?? document.createElement('p')));
    if (element.alt) return element.alt;
    const content = NAMED_BY_CONTENT.has(roleOf(element)) ? words(textOf(element)) : '';
    return content || element.getAttribute('title') || element.getAttribute('placeholder') || '';
  };

  const isMatch = (element, {role, name, exact, css, text, label}) => {
    if (css) return element.matches(css);
    if (text) return words(textOf(element)).includes(text) && !children(element).some((child) => child.nodeType === Node.ELEMENT_NODE && words(textOf(child)).includes(text));
    if (label) return ['INPUT', 'TEXTAREA', 'SELECT'].includes(element.tagName) && nameOf(element).toLowerCase().includes(label.toLowerCase());
    if (roleOf(element) !== role) return false;
    if (!name) return true;
    return exact ? nameOf(element) === name : nameOf(element).toLowerCase().includes(name.toLowerCase());
  };
  /** @returns {Element[]} in the order in which they are drawn, each once */
  const find = (from, step) => {
    const found = [];
    const visit = (node) => {
      if (node.nodeType !== Node.ELEMENT_NODE || SILENT.has(node.tagName) || !(step.isHidden || isShown(node))) return;
      if (isMatch(node, step)) found.push(node);
      for (const child of children(node)) visit(child);
    };
    for (const child of children(from)) visit(child);
    return found;
  };

  let found = document.documentElement ? [document.documentElement] : []; // none: the document is about to be another one
  for (const step of query.steps) found = [...new Set(found.flatMap((each) => find(each, step)))];
  if (query.wants === 'texts') return found.map((each) => words(textOf(each)));
  const element = query.last ? found.at(-1) : found[0];
  if (!element) return null;

  const {wants, value} = query;
  if (wants === 'element') return element;
  if (wants === 'attribute') return {value: element.getAttribute(value)};
  if (wants === 'property') return {value: element[value] ?? null};
  if (wants === 'style') return {value: getComputedStyle(element)[value]};
  if (wants === 'box') return element.getBoundingClientRect().toJSON();
  if (wants === 'focus') return element.focus() ?? true;
  // :focus would need a window that has the focus, too, which one that was resized may have lost
  if (wants === 'isFocused') return element.getRootNode().activeElement === element;
  if (wants === 'click') return element.click() ?? true;
  if (wants === 'choose') {
    element.value = value;
    for (const type of ['input', 'change']) element.dispatchEvent(new Event(type, {bubbles: true, composed: true}));
    return true;
  }

  // where to press: in the middle of what is in view, unless something else lies there
  let box = element.getBoundingClientRect();
  const isOutside = () => box.top < 0 || box.left < 0 || box.bottom > innerHeight || box.right > innerWidth;
  if (isOutside()) element.scrollIntoView({block: 'center', inline: 'nearest', behavior: 'instant'});
  box = element.getBoundingClientRect();
  const [x, y] = [Math.round(box.left + box.width / 2), Math.round(box.top + box.height / 2)];
  let top = document.elementFromPoint(x, y);
  while (top?.shadowRoot?.elementFromPoint(x, y) && top.shadowRoot.elementFromPoint(x, y) !== top) top = top.shadowRoot.elementFromPoint(x, y);
  const isOff = element.disabled || element.getAttribute('aria-disabled') === 'true';
  /** Whether a node is the element, stands in it, or labels it. */
  const belongs = (node) => {
    for (let at = node; at; at = at.assignedSlot ?? at.parentNode ?? at.host) {
      if (at === element || [...(element.labels ?? [])].includes(at)) return true;
    }
    return false;
  };
  const covered = belongs(top) ? '' : `${top?.tagName.toLowerCase() ?? 'nothing'}: ${words(top ? textOf(top) : '').slice(0, 60)}`;
  return {x, y, isOff: Boolean(isOff), covered};
}
