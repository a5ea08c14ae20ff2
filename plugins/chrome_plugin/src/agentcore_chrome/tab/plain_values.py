"""Values of scripts as JSON text, whatever the page has made of JavaScript's own objects.

Pages replace `Map`, `JSON` or `Array.prototype.toJSON`, and the driver's way to transfer objects relies on them; it
transfers texts as they are. So scripts of ours return text, which syntax alone turns objects into.
"""

TO_JSON = r"""(value => {
  const kindOf = {}.toString, CONTROL = '\0\x01\x02\x03\x04\x05\x06\x07\b\t\n\x0b\f\r\x0e\x0f' +
    '\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f', HEX = '0123456789abcdef';
  let seen = null;
  try { seen = new WeakSet(); if (seen.has({}) !== false) seen = null; } catch { seen = null; }
  const quote = text => {
    let out = '"', from = 0;
    for (let at = 0; at < text.length; at++) {
      const c = text[at];
      if (c !== '"' && c !== '\\' && c >= ' ') continue;
      let code = 0;
      while (code < 32 && CONTROL[code] !== c) code++;
      for (; from < at; from++) out += text[from];
      out += code < 32 ? '\\u00' + HEX[code >> 4] + HEX[code & 15] : '\\' + c;
      from = at + 1;
    }
    if (!from) return '"' + text + '"';
    for (; from < text.length; from++) out += text[from];
    return out + '"';
  };
  const short = (text, most) => {
    let out = '';
    for (let at = 0; at < most && at < text.length; at++) out += text[at];
    return out;
  };
  const list = (items, depth) => {
    let out = '[';
    for (let at = 0; at < items.length; at++) out += (at ? ',' : '') + (write(items[at], depth) ?? 'null');
    return out + ']';
  };
  const pairs = (object, depth) => {
    let out = '';
    // own fields alone, whatever the page has added to Object.prototype
    const own = {__proto__: null, ...object};
    for (const key in own) {
      const text = write(own[key], depth);
      if (text !== undefined) out += (out ? ',' : '') + quote(key) + ':' + text;
    }
    return '{' + out + '}';
  };
  const whole = (x, depth) => {
    const kind = kindOf.call(x);
    if (kind === '[object Date]') return x.getTime() === x.getTime() ? quote(x.toISOString()) : 'null';
    const isNode = typeof x.nodeType === 'number' && x.nodeName;
    if (isNode) return quote(short(x.outerHTML || x.textContent || x.nodeName, 1000));
    if (x === window) return quote('[window]');
    if (kind === '[object Map]') {
      const own = {__proto__: null};
      x.forEach((one, key) => { own[key] = one; });
      return pairs(own, depth);
    }
    if (kind === '[object Set]') {
      const items = [];
      x.forEach(one => { items[items.length] = one; });
      return list(items, depth);
    }
    if (kind === '[object Error]' || kind === '[object DOMException]') return quote('' + (x.stack || x));
    const isList = kind === '[object Array]' || kind === '[object NodeList]' || kind === '[object HTMLCollection]';
    if (isList) return list(x, depth);
    return pairs(x, depth);
  };
  const write = (x, depth) => {
    if (x === null) return 'null';
    const type = typeof x;
    if (type === 'undefined') return undefined;
    if (type === 'string') return quote(x);
    if (type === 'boolean') return x ? 'true' : 'false';
    if (type === 'number') return x - x === 0 ? '' + x : quote('' + x);
    if (type === 'bigint') return quote(x + 'n');
    if (type === 'function') return quote(short('' + x, 200));
    if (type === 'symbol') return quote(x.toString());
    if (seen ? seen.has(x) : depth > 100) return quote('[seen before]');
    if (depth > 1000) return quote('[too deep]');
    seen?.add(x);
    return whole(x, depth + 1);
  };
  return write(value, 0);
})"""
"""A function that returns the JSON text of a value; undefined for undefined."""
