// The roles and states of elements: WAI-ARIA 1.2 roles, and the implicit roles of HTML elements
// (https://www.w3.org/TR/html-aam-1.0/).

const ROLES = new Set(`alert alertdialog application article banner blockquote button caption cell checkbox code
  columnheader combobox complementary contentinfo definition deletion dialog directory document emphasis feed figure
  form generic grid gridcell group heading img insertion link list listbox listitem log main mark marquee math menu
  menubar menuitem menuitemcheckbox menuitemradio meter navigation none note option paragraph presentation progressbar
  radio radiogroup region row rowgroup rowheader scrollbar search searchbox separator slider spinbutton status strong
  subscript superscript switch tab table tablist tabpanel term textbox time timer toolbar tooltip tree treegrid
  treeitem`.split(/\s+/));

const words = text => new Set(text.split(' '));

/** Roles that are interactive by themselves. */
const ACTED_ON = words('button checkbox combobox gridcell link listbox menuitem menuitemcheckbox menuitemradio option '
  + 'radio scrollbar searchbox slider spinbutton switch tab textbox treeitem');
/** Roles of parts that are interactive if their container listens for clicks. */
const PARTS = words('listitem row cell rowheader columnheader option treeitem article figure');
/** Roles whose parts are interactive on their own, although they name the element. */
const HOLDS_PARTS = words('cell columnheader gridcell heading rowheader');
/** Roles that are named by their content. */
const NAMED_BY_CONTENT = words('button cell checkbox columnheader gridcell heading link menuitem menuitemcheckbox '
  + 'menuitemradio option radio rowheader switch tab tooltip treeitem');
/** Roles that have no name. */
const NAMELESS = words('caption code definition deletion emphasis generic insertion listitem mark paragraph row rowgroup '
  + 'strong subscript superscript term time');
/** Roles that carry no information without a name and without interaction. */
const PLAIN = words('generic rowgroup cell gridcell presentation none strong emphasis mark subscript superscript insertion '
  + 'deletion code time term definition document caption');

const INPUTS = {
  button: 'button', image: 'button', reset: 'button', submit: 'button', file: 'button', color: 'button',
  checkbox: 'checkbox', radio: 'radio', range: 'slider', number: 'spinbutton', search: 'searchbox',
};

const TAGS = {
  ARTICLE: 'article', ASIDE: 'complementary', BLOCKQUOTE: 'blockquote', BUTTON: 'button', CAPTION: 'caption',
  CODE: 'code', DATALIST: 'listbox', DD: 'definition', DEL: 'deletion', DETAILS: 'group', DFN: 'term',
  DIALOG: 'dialog', DT: 'term', EM: 'emphasis', FIELDSET: 'group', FIGURE: 'figure', FORM: 'form',
  FRAME: 'iframe', H1: 'heading', H2: 'heading', H3: 'heading', H4: 'heading', H5: 'heading', H6: 'heading',
  HR: 'separator', HTML: 'document', IFRAME: 'iframe', INS: 'insertion', LI: 'listitem', MAIN: 'main', MARK: 'mark',
  MATH: 'math', MENU: 'list', METER: 'meter', NAV: 'navigation', OL: 'list', OPTGROUP: 'group', OPTION: 'option',
  OUTPUT: 'status', P: 'paragraph', PROGRESS: 'progressbar', SEARCH: 'search', STRONG: 'strong', SUB: 'subscript',
  SUMMARY: 'button', SUP: 'superscript', TABLE: 'table', TBODY: 'rowgroup', TEXTAREA: 'textbox', TFOOT: 'rowgroup',
  THEAD: 'rowgroup', TIME: 'time', TR: 'row', UL: 'list', VIDEO: 'video', AUDIO: 'audio', CANVAS: 'canvas',
};
/** Elements whose role depends on more than their tag name. */
const LOOKED_AT = {
  A: element => (element.hasAttribute('href') ? 'link' : ''),
  AREA: element => (element.hasAttribute('href') ? 'link' : ''),
  FOOTER: element => (element.closest('article, aside, main, nav, section') ? '' : 'contentinfo'),
  HEADER: element => (element.closest('article, aside, main, nav, section') ? '' : 'banner'),
  IMG: element => (element.getAttribute('alt') === '' && !element.title ? '' : 'img'),
  INPUT: element => (INPUTS[element.type] ?? (element.hasAttribute('list') ? 'combobox' : 'textbox')),
  SECTION: element => (element.hasAttribute('aria-label') || element.hasAttribute('aria-labelledby') ? 'region' : ''),
  SELECT: element => (element.multiple || element.size > 1 ? 'listbox' : 'combobox'),
  SVG: () => 'img',
  TD: element => (/grid/.test(element.closest('table')?.getAttribute('role') ?? '') ? 'gridcell' : 'cell'),
  TH: element => (/^row/.test(element.scope) ? 'rowheader' : 'columnheader'),
};

/** The name of an element's tag in capitals, which it has by itself in documents of HTML only, not of XHTML. */
const tagOf = element => its(element).tagName.toUpperCase();

/** Return the role of an element; empty if it has none. */
function roleOf(element) {
  const given = its(element).getAttribute('role');
  if (given) {
    const role = given.toLowerCase().split(/\s+/).find(word => ROLES.has(word));
    if (role) return role === 'none' || role === 'presentation' || role === 'generic' ? '' : role;
  }
  const tag = tagOf(element);
  return TAGS[tag] ?? LOOKED_AT[tag]?.(element) ?? '';
}

const isTrue = value => value === 'true' || value === '';

/** Return the visible states of an element, such as ` [checked] [disabled]`. */
function statesOf(element, role) {
  const read = its(element);
  const aria = name => read.getAttribute(`aria-${name}`);
  let states = '';
  const add = state => { states += ` [${state}]`; };
  const checked = read.indeterminate || aria('checked') === 'mixed' ? 'mixed'
    : (role === 'checkbox' || role === 'radio') && 'checked' in element ? read.checked : aria('checked') === 'true';
  if (checked) add(checked === 'mixed' ? 'checked=mixed' : 'checked');
  if (read.matches(':disabled') || aria('disabled') === 'true') add('disabled');
  const expanded = tagOf(element) === 'SUMMARY' ? String(read.parentElement?.open) : aria('expanded');
  if (expanded === 'true' || expanded === 'false') add(expanded === 'true' ? 'expanded' : 'collapsed');
  if (read.localName === 'dialog' && read.matches(':modal')) add('modal');
  if (isTrue(aria('invalid') ?? 'false')) add('invalid');
  const level = role === 'heading' ? aria('level') ?? tagOf(element).match(/^H([1-6])$/)?.[1] : null;
  if (level) add(`level=${level}`);
  if (aria('pressed') === 'true') add('pressed');
  if (read.readOnly || aria('readonly') === 'true') add('readonly');
  if (aria('sort') && aria('sort') !== 'none') add(`sorted=${aria('sort')}`);
  if (aria('selected') === 'true' || (tagOf(element) === 'OPTION' && read.selected)) add('selected');
  if (aria('current') && aria('current') !== 'false') add('current');
  if (its(read.getRootNode()).activeElement === element && element !== its(document).body) add('active');
  return states;
}
