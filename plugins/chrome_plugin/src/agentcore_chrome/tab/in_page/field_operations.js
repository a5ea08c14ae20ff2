// What tools read of fields and content, and do to them, in the engine's own world. Each is called with an element and
// arguments. A selector engine answers at once, so what a promise resolves to follows in the element that it has returned.

const WORK = {
  /** An editor draws with the next frame, which a page behind another never gets. */
  draw: () => new Promise(done => { setTimeout(done, 200); requestAnimationFrame(() => setTimeout(done, 20)); }),

  readField: e => {
    const EDITORS = [['.monaco-editor', '.view-line'], ['.CodeMirror', '.CodeMirror-line'], ['.cm-editor', '.cm-line'],
      ['.ace_editor', '.ace_line']];
    const FIXED = ['date', 'time', 'datetime-local', 'month', 'week', 'color', 'range', 'number'];
    const NO_TEXT = ['button', 'submit', 'reset', 'image', 'hidden'];
    const [root, line] = EDITORS.map(([root, line]) => [e.closest(root), line]).find(([root]) => root) ?? [];
    const tag = e.localName, type = tag === 'input' ? e.type : tag;
    const plain = text => text.replace(/\u00a0/g, ' ').replace(/[\u200b\u200c\ufeff]/g, '');
    let kind = 'other', text = null;
    if (root) {
      const rows = [...root.querySelectorAll(line)].map(row => [row.getBoundingClientRect().top, row.textContent]);
      [kind, text] = ['code', plain(rows.sort((a, b) => a[0] - b[0]).map(row => row[1]).join('\n'))];
    } else if (FIXED.includes(type)) [kind, text] = ['fixed', e.value];
    else if (type === 'checkbox' || type === 'radio') [kind, text] = ['check', String(e.checked)];
    else if (type === 'file') kind = 'file';
    else if (type === 'select') [kind, text] = ['choice', [...e.selectedOptions].map(one => one.label).join(', ')];
    else if (tag === 'textarea' || tag === 'input' && !NO_TEXT.includes(type))
      [kind, text] = ['text', type === 'password' ? null : e.value];
    else if (e.isContentEditable || e.editContext) [kind, text] = ['rich', plain(e.innerText)];
    const name = e.ariaLabel || e.labels?.[0]?.innerText || e.placeholder || e.title || e.name || e.id || '';
    return {
      kind, type, text: text?.slice(0, 200_000) ?? null, complaint: e.validationMessage ?? '',
      name: name.trim().replace(/\s+/g, ' ').slice(0, 80),
      ownRole: e.role ?? '', isReadOnly: !!e.readOnly,
      role: e.role || (e === document.body ? 'page' : type),
      isPage: e === document.body || e === document.documentElement,
      hasContents: !!(e.firstElementChild || e.shadowRoot),
    };
  },

  probeValue: (e, value) => {
    const probe = e.cloneNode();
    probe.value = value;
    const taken = {
      range: Number(probe.value) === Number(value),
      color: probe.value !== '#000000' || ['#000000', '#000', 'black'].includes(value.toLowerCase()),
    };
    return [taken[e.type] ?? (probe.value !== '' || value === ''), probe.value, e.min, e.max, e.step];
  },

  paste: (e, text) => {
    const data = new DataTransfer();
    data.setData('text/plain', text);
    return !e.dispatchEvent(
      new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true, composed: true}));
  },

  staysReadOnly: (e, limit) => new Promise(done => {
    const end = performance.now() + limit;
    const look = () => (!e.readOnly || performance.now() > end ? done(e.readOnly) : setTimeout(look, 50));
    look();
  }),

  options: e => [...e.options].map(one => [one.label.trim().replace(/\s+/g, ' '), one.value]),

  html: (element, limit) => {
    const hide = root => {
      for (const field of root.querySelectorAll('input[type=password i][value]')) field.setAttribute('value', '');
      return root;
    };
    const html = element => {
      if (!element.querySelector('input[type=password i][value]') && !element.matches('input[type=password i][value]'))
        return element.outerHTML;
      const frame = its(document).implementation.createHTMLDocument('').createElement('div');
      frame.append(element.cloneNode(true));
      return hide(frame).innerHTML;
    };
    const all = html(element);
    return [all.slice(0, limit), all.length];
  },

  text: (element, limit) => {
    const all = element.innerText ?? element.textContent ?? '';
    return [all.slice(0, limit), all.length];
  },

  tree: (element, maxDepth, maxLines) => {
    const lines = [];
    const skip = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE']);
    const walk = (element, depth) => {
      const node = its(element);
      if (skip.has(node.tagName) || lines.length > maxLines) return;
      const tag = node.tagName.toLowerCase();
      const id = node.id ? '#' + node.id : '';
      const classes = Array.from(node.classList, name => '.' + name).join('');
      const own = Array.from(node.childNodes).filter(child => child.nodeType === Node.TEXT_NODE)
        .map(child => child.data).join(' ').replace(/\s+/g, ' ').trim();
      const text = own.length > 100 ? own.slice(0, 100) + '…' : own;
      lines.push('  '.repeat(depth) + `<${tag}${id}${classes}>${text}</${tag}>`);
      const children = [...(node.shadowRoot ? node.shadowRoot.children : []), ...node.children]
        .filter(child => !skip.has(its(child).tagName));
      if (!children.length) return;
      if (depth + 1 >= maxDepth) { lines.push('  '.repeat(depth + 1) + '...'); return; }
      for (const child of children) walk(child, depth + 1);
    };
    walk(element, 0);
    return [lines.slice(0, maxLines).join('\n'), lines.length];
  },

  /** Do something with the scroll area at an element, or with the page's: `move`, `search`, or only return its state. */
  scroll: (element, isPage, isSideways, work, ...given) => {
    const area = scrollArea(isPage ? null : element, isSideways);
    return work === 'state' ? area.arrive().then(area.state) : area[work](...given);
  },

  // not returned: newer browsers return a promise
  bringIntoView: element => { its(element).scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' }); },

  checkSelector: (_, selector) => { its(document).querySelector(selector); },
};
