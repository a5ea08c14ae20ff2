"""Pages whose scripts replace what JavaScript and the browser provide: all of it, one group at a time.

Their policies are strict, too: no scripts but their own, and Trusted Types.
"""

from collections.abc import AsyncIterator
from urllib.parse import quote

import pytest_asyncio
from aiohttp import web

REPLACE = """
const broken = function () { throw new Error('replaced by the page'); };
const replace = (owner, names) => {
  for (const name of names) {
    const found = Object.getOwnPropertyDescriptor(owner, name);
    if (!found || name === 'constructor' || owner === window && KEPT.includes(name)) continue;
    if (typeof found.value === 'function' && (found.writable || found.configurable)) {
      try { Object.defineProperty(owner, name, {...found, value: broken}); } catch {}
    } else if (found.get && found.configurable) {
      try { Object.defineProperty(owner, name, {...found, get: broken}); } catch {}
    }
  }
};
const defineProperty = Object.defineProperty.bind(Object);
const KEPT = ['addEventListener', 'window', 'document', 'location', 'top', 'self', 'parent', 'frames'];
const prototypes = filter => Object.getOwnPropertyNames(window)
    .filter(name => /^[A-Z]/.test(name) && filter(name)).map(name => window[name]?.prototype).filter(Boolean);
const LANGUAGE =
    /^(Array|String|Number|Boolean|RegExp|Date|Promise|Map|Set|WeakMap|WeakSet|Symbol|Error|Iterator|BigInt)$/;
const replaceOne = (owner, name) => {
  if (name === 'constructor' || name === 'prototype') return;
  const value = {value: broken, configurable: true};
  try { if (typeof owner[name] === 'function') defineProperty(owner, name, value); } catch {}
};
"""
GROUPS = {
    "constructors": "replace(window, Object.getOwnPropertyNames(window).filter(name => /^[A-Z]/.test(name)))",
    "functions": "replace(window, Object.getOwnPropertyNames(window).filter(name => /^[a-z]/.test(name)))",
    "methods of the language": """
        const all = prototypes(name => LANGUAGE.test(name));
        const owners = [Math, JSON, Reflect, Promise, Array, String, Number, Date, Symbol, Proxy];
        const names = [...owners, ...all].map(owner => [owner, Object.getOwnPropertyNames(owner)]);
        for (let at = 0; at < names.length; at++) {
          for (let n = 0; n < names[at][1].length; n++) replaceOne(names[at][0], names[at][1][n]);
        }""",
    "methods of objects and functions": """
        for (const [owner, names] of [[Object, ['keys', 'entries', 'values', 'assign', 'create', 'freeze',
            'getPrototypeOf', 'getOwnPropertyNames', 'fromEntries', 'is', 'hasOwn']],
            [Object.prototype, ['hasOwnProperty', 'isPrototypeOf', 'propertyIsEnumerable', 'toLocaleString']],
            [Function.prototype, ['call', 'apply', 'bind', 'toString']]]) {
          for (let n = 0; n < names.length; n++) replaceOne(owner, names[n]);
        }""",
    "parts of documents": "for (const owner of prototypes(name => /^(Node|Element|Document|HTML|SVG|Text|CharacterData|"
    "Attr|ShadowRoot|DocumentFragment|NodeList|DOMTokenList|Range|Selection|NamedNodeMap)/.test(name)))"
    " replace(owner, Object.getOwnPropertyNames(owner))",
    "events": "for (const owner of prototypes(name => /(Event|EventTarget|Observer|DataTransfer)$/.test(name)))"
    " replace(owner, Object.getOwnPropertyNames(owner))",
    "all other interfaces": "for (const owner of prototypes(name => !LANGUAGE.test(name) && !/^(Object|Function|Node|"
    "Element|Document|HTML|SVG|Text|Window|Event)/.test(name))) replace(owner, Object.getOwnPropertyNames(owner))",
    "values": "for (const name of ['performance', 'crypto', 'customElements', 'navigator', 'screen', 'history', 'CSS',"
    " 'localStorage', 'visualViewport', 'innerWidth', 'innerHeight', 'scrollX', 'scrollY', 'devicePixelRatio'])"
    " try { Object.defineProperty(window, name, {value: undefined, configurable: true}) } catch {}",
    "clocks that stand still": "Date.now = performance.now = () => 1;"
    " for (const name of ['setTimeout', 'setInterval', 'requestAnimationFrame', 'requestIdleCallback'])"
    " window[name] = () => 1",
    "conversions to JSON": "for (const owner of [Object, Array, String, Number, Boolean, Date])"
    " defineProperty(owner.prototype, 'toJSON', {value: () => 'replaced by the page'})",
}
BODY = """<title>Page</title><h1>Page</h1><label>Name <input id=name></label><label>Notes <textarea></textarea></label>
<label>Colour <select><option>Red<option>Blue</select></label><label><input type=checkbox> Agree</label>
<div contenteditable role=textbox aria-label=Rich></div><button>Go</button><p id=done hidden>It is done</p>
<canvas height=2000></canvas><p id=end>The end of it</p>"""
CLICKED = "document.querySelector('button').onclick = () => { done.hidden = false; };"
POLICY = "default-src 'none'; script-src 'nonce-1'; require-trusted-types-for 'script'; trusted-types 'none'"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def replacing() -> AsyncIterator[str]:
    """The address of a server of pages that have replaced a group of globals."""

    async def answer(request: web.Request) -> web.Response:
        script = GROUPS[request.query["replace"]]
        text = f"{BODY}<script nonce=1>{CLICKED} (() => {{ {REPLACE}{script} }})()</script>"
        return web.Response(text=text, content_type="text/html", headers={"Content-Security-Policy": POLICY})

    app = web.Application()
    app.router.add_get("/", answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    listening = web.TCPSite(runner, "127.0.0.1", 0)
    await listening.start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


async def test_page_is_read_and_acted_on_whatever_its_scripts_replace(act, replacing, text, subtests):
    for group in GROUPS:
        with subtests.test(group=group):
            steps = [
                ("browser_navigate", {"url": f"{replacing}/?replace={quote(group)}"}, ""),
                ("browser_snapshot", {}, 'button "Go" [ref='),
                ("browser_get_state", {}, "Page"),
                ("browser_type", {"selector": "#name", "text": "Ada"}, "Typed 3"),
                ("browser_type", {"selector": "textarea", "text": "one\ntwo"}, 'into textbox "Notes"'),
                ("browser_type", {"selector": "[contenteditable]", "text": "one\ntwo"}, 'into textbox "Rich"'),
                ("browser_fill_form", {"fields": [{"selector": "#name", "value": "Bob"}]}, "Filled 1"),
                ("browser_fill_form", {"fields": [{"selector": "[type=checkbox]", "value": True}]}, "checked"),
                ("browser_select_option", {"selector": "select", "values": ["Blue"]}, "Blue"),
                ("browser_hover", {"selector": "button"}, 'button "Go"'),
                ("browser_click", {"selector": "#name"}, "Name"),
                ("browser_press_key", {"key": "b"}, "Pressed b"),
                ("browser_click", {"selector": "button", "snapshot": True}, "It is done"),
                ("browser_wait_for", {"text": "It is done"}, ""),
                ("browser_get_dom", {}, "<h1>Page</h1>"),
                ("browser_evaluate", {"script": "1 + 1"}, "2"),
                ("browser_scroll", {"to": "#end"}, "is in view"),
                ("browser_scroll", {"direction": "to_top"}, "0 of"),
                ("browser_screenshot", {}, ""),
            ]
            failed = []
            for tool, arguments, said in steps:
                try:
                    found = text(await act(tool, **arguments))
                except Exception as exc:
                    failed.append(f"{tool} {arguments}: {exc}"[:300])
                else:
                    if said not in found:
                        failed.append(f"{tool} {arguments}: said {found[:200]!r}")
            assert failed == []
