"""A small site on loopback, with the pages that tests visit."""

import asyncio
import zlib
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache

from aiohttp import web

HIDING = [
    "attributes",
    "checkVisibility",
    "childElementCount",
    "children",
    "childNodes",
    "classList",
    "clientHeight",
    "closest",
    "contains",
    "dataset",
    "getAttribute",
    "getBoundingClientRect",
    "getRootNode",
    "hasAttribute",
    "id",
    "innerText",
    "isConnected",
    "localName",
    "matches",
    "nodeType",
    "ownerDocument",
    "parentElement",
    "parentNode",
    "querySelector",
    "querySelectorAll",
    "scrollHeight",
    "shadowRoot",
    "style",
    "tagName",
    "textContent",
    "title",
]
"""Names of fields that hide what their form is read by."""

PAGES = {
    "/": "<title>Home</title><h1>Home</h1><p id=intro>Welcome</p><a href=/second>Second</a>",
    "/second": "<title>Second</title><h1>Second page</h1><a href=/>Home</a>",
    "/titled": "<title>First</title><script>addEventListener('load', () => { document.title = 'Loaded' })</script>",
    "/deaf": "<title>Deaf</title><script>window.addEventListener = () => {}</script>",
    "/form": """<title>Form</title><form
        onsubmit="event.preventDefault(); out.textContent = new URLSearchParams(new FormData(this))">
        <label>Name <input name=name value=old></label>
        <label>Secret <input name=secret type=password value=hunter2></label>
        <label><input type=checkbox name=agree> Agree</label>
        <label>Colour <select name=colour><option value=r>Red</option><option value=b>Blue</option></select></label>
        <label>File <input type=file name=file
            onchange="picked.textContent = this.files[0].name + ' ' + this.files[0].size"></label>
        <button>Send</button></form><output id=out></output><output id=picked></output>
        <button id=late hidden onclick="out.textContent='late'">Late</button>
        <button id=off disabled>Off</button>
        <div style="position:relative"><button id=under>Under</button>
        <div style="position:absolute;inset:0;background:#fff">over</div></div>""",
    "/fields": """<title>Fields</title>
        <input type=date name=date value=2026-01-02 min=2026-01-01><input type=time name=time>
        <input type=month name=month><input type=color name=colour><input type=range name=range min=0 max=50 step=10>
        <input type=number name=number><input name=short maxlength=3 aria-label=Short>
        <input name=phone oninput="this.value = this.value.replace(/\\D/g, '')">
        <select name=size><option>Small</option><option>Large</option></select>
        <textarea name=code aria-label=Code></textarea><div id=rich contenteditable></div>
        <div id=keys tabindex=0>Keys: </div><my-field><input name=inner></my-field>
        <script>
        document.querySelector('[name=code]').onkeydown = function (event) {
          if (event.key !== 'Enter') return;
          event.preventDefault();
          const line = this.value.slice(0, this.selectionStart).split('\\n').pop();
          document.execCommand('insertText', false, '\\n' + line.match(/^ */)[0]);
        };
        keys.onkeydown = event => { keys.textContent += event.key; };
        </script>""",
    "/grid": """<title>Grid</title><h1>Grid</h1>
        <div id=log style="height:100px;overflow:auto"><p style="height:900px">Log<p id=end>Last entry</div>
        <div id=grid style="height:300px;overflow:auto">
        <div id=rows style="position:relative;height:600000px"></div></div>
        <script>
        const draw = () => {
          const from = Math.floor(grid.scrollTop / 30);
          rows.innerHTML = Array.from({length: 12}, (_, i) => `<div role=row aria-rowindex=${from + i}
            style="position:absolute;top:${(from + i) * 30}px">Name of ${from + i}${rows.dataset.wide ?? ''}
            </div>`).join('');
        };
        grid.onscroll = () => requestAnimationFrame(draw);
        draw();
        </script>""",
    "/late-grid": """<title>Late grid</title><style>.row { height: 30px } .late { position: absolute }</style>
        <div id=grid style="height:300px;overflow:auto">
        <div id=rows style="position:relative;height:3000px"></div></div>
        <div id=fixed style="height:300px;overflow:auto"><div style="height:3000px">
        <div id=window style="position:sticky;top:0;height:300px;overflow:hidden"></div></div></div>
        <div id=never style="height:300px;overflow:auto"><div id=hole style="height:700px">One row</div></div>
        <div id=endless style="height:100px;overflow:auto"></div>
        <script>
        const frame = () => new Promise(requestAnimationFrame);
        const timers = new Map();
        const later = async (area, work) => {  // once it has not been scrolled for so long
          for (const _ of 'abc') await frame();
          clearTimeout(timers.get(area));
          timers.set(area, setTimeout(work, 200));
        };
        const made = (area, name, style) => Array.from({length: 11}, (_, i) => {
          const number = Math.floor(area.scrollTop / 30) + i;
          return number > 99 ? '' : `<div class=row style="${style(number)}">${name} ${number}.</div>`;
        }).join('');
        grid.onscroll = () => later(grid, () => {
          rows.innerHTML = made(grid, 'Row', number => `position:absolute;top:${number * 30}px`);
        });
        const drawFixed = () => { document.getElementById('window').innerHTML = made(fixed, 'Line', () => ''); };
        fixed.onscroll = () => later(fixed, drawFixed);
        never.onscroll = () => { hole.dataset.at = never.scrollTop; hole.firstChild.data = ''; };
        const more = () => { for (let i = 0; i < 10; i++) endless.append(Object.assign(document.createElement('p'),
            {textContent: `Entry ${endless.childElementCount}.`})); };
        endless.onscroll = () => {
          if (endless.scrollTop + 110 > endless.scrollHeight && endless.childElementCount < 50) later(endless, more);
        };
        drawFixed(); more();
        grid.scrollTop = 1500;
        </script>""",
    "/dialogs": """<title>Dialogs</title><output id=out></output>
        <button id=alert onclick="alert('hello'); out.textContent='after'">Alert</button>
        <button id=confirm onclick="out.textContent = 'confirm ' + confirm('Sure?')">Confirm</button>
        <button id=prompt onclick="out.textContent = 'prompt ' + prompt('Name?')">Prompt</button>
        <button id=storm onclick="while (true) alert('again')">Storm</button>
        <button id=stay onclick="addEventListener('beforeunload', event => event.preventDefault())">Stay</button>""",
    "/popups": """<title>Popups</title><button id=many
        onclick="for (let i = 0; i < 20; i++) window.open('/second?' + i)">Many</button>
        <a id=blank target=_blank href=/second>Blank</a>""",
    "/frames": "<title>Frames</title><h1>Outside</h1><iframe src=/form></iframe>",
    "/shadow": """<title>Shadow</title><div id=host></div><script>
        host.attachShadow({mode: 'open'}).innerHTML =
            '<button onclick="document.title = this.textContent">Inside</button>'
        </script>""",
    "/loop": "<title>Loop</title><button onclick='while (true);'>Loop</button>",
    "/rows": "<title>Rows</title><table>"
    + "".join(f"<tr><td>Name {i}</td><td>{i * 7}</td><td><a href=/second?{i}>open</a></td></tr>" for i in range(100))
    + "</table>",
    "/many": "<title>Many</title><table>"
    + "".join(f"<tr><td>Name {i}</td><td>{i * 7}</td></tr>" for i in range(2000))
    + "</table>",
    "/to-blocked": """<title>Way out</title><a id=link href="http://blocked.test/">out</a>
        <a id=redirect href=/redirect-blocked>out</a>""",
    "/changing": """<title>Changing</title>
        <button id=b onclick="this.textContent = 'Pause'; this.setAttribute('role', 'switch'); other.hidden = true">
            Play</button>
        <button id=other onclick="document.title = 'other'">Other</button>
        <iframe srcdoc="<button onclick='this.textContent += 1'>Count</button>"></iframe>""",
    "/drag": """<title>Drag</title>
        <div id=a draggable=true ondragstart="event.dataTransfer.setData('text', 'x')">A</div>
        <div id=b style="height:100px" ondragover="event.preventDefault()"
            ondrop="document.title='dropped'">B</div>""",
    "/choices": """<title>Choices</title><my-select><div role=combobox tabindex=0 aria-label=City
            onclick="list.hidden = !list.hidden">None</div></my-select>
        <div id=list role=listbox hidden onclick="document.querySelector('[role=combobox]').textContent =
            event.target.textContent; this.hidden = true"><p role=option>Berlin<p role=option>Paris</div>
        <my-group><label><input type=radio name=size>Small</label>
        <label><input type=radio name=size>Large</label></my-group>
        <my-box><label style="position:relative"><input type=checkbox>
        <span style="position:absolute;inset:0;background:#fff">Box</span></label></my-box>""",
    "/drop": """<title>Drop</title><output id=out></output><p id=no>No</p>
        <div id=zone style="height:100px" ondragover="event.preventDefault()" ondrop="event.preventDefault();
            event.dataTransfer.files[0].text().then(text => { out.textContent = 'dropped ' + text; })">
        Files go here<input type=file hidden onchange="out.textContent = 'given ' + this.files[0].name"></div>""",
    "/acted-on": """<title>Acted on</title><style>.pointer { cursor: pointer } [hidden] { display: none }</style>
        <div id=editor contenteditable><p>Dear reader</p></div>
        <div contenteditable role=textbox aria-describedby=prompt></div><div id=prompt>Write something</div>
        <div id=listened>Listened to</div> <div class=pointer onclick="done(this)">Pointed at</div>
        <div id=dragged draggable=true>Dragged</div>
        <ul id=todo><li>Milk<li>Bread</ul>
        <div id=area style="height: 60px; overflow: auto"><p style="height: 500px">Inner text</p></div>
        <div role=combobox tabindex=0 aria-expanded=true aria-label=Fruit>None</div>
        <div role=listbox aria-label=Fruits><div role=option id=apple>Apple</div></div>
        <div role=tree><div role=treeitem id=leaf>Leaf<div role=group>
            <div role=treeitem>Inner leaf</div></div></div></div>
        <div role=grid><div role=row><div role=gridcell id=cell>A1</div></div></div>
        <label><input type=checkbox hidden id=box>Agree</label>
        <label><input type=checkbox id=drawn style="opacity: 0; pointer-events: none">Drawn</label>
        <div id=framework><span>Nothing</span><span>to do</span></div>
        <div id=closer><p>Plain words</p><button id=plain>Plain</button></div><script>
        const done = element => { document.title = element.textContent; };
        for (const id of ['listened', 'apple', 'leaf', 'cell']) {
            window[id].addEventListener('click', event => { event.stopPropagation(); done(window[id]); });
        }
        todo.addEventListener('click', event => done(event.target));
        closer.addEventListener('click', () => {});
        for (const type of `abort blur cancel change click close copy cut drag drop error focus input invalid keydown
            keyup load mousedown mouseup paste play reset scroll submit wheel`.split(/\\s+/)) {
            framework.addEventListener(type, () => {});
        }</script>""",
    "/texts": """<title>Texts</title><textarea aria-label=Note>one\ntwo [ref=e1]</textarea>
        <details><summary>More</summary><p>Folded away</p></details>
        <div class=view-line><span>&nbsp;&nbsp;&nbsp;&nbsp;return</span> <span>0</span></div>
        <ul aria-owns=owned></ul><p id=owned>Owned</p>""",
    "/long": "<title>Long</title>" + "".join(f"<p id=p{i}>Paragraph {i} {'x' * 40}</p>" for i in range(1000)),
    "/sets-going": """<title>Sets going</title><p id=out>Before</p><ul id=list><li>One <button>Take</button></ul>
        <button id=fetch onclick="fetch('/second').then(answer => answer.text()).then(text => {
            out.textContent = text.length > 10 ? 'Answered' : 'Empty'; })">Ask</button>
        <button id=fail onclick="console.error('went wrong'); undefinedName()">Fail</button>
        <button id=idle>Idle</button>
        <button id=later onclick="setTimeout(() => { out.textContent = 'Sure ' + confirm('Sure?') }, 20)">Later</button>
        <button id=again onclick="list.innerHTML = list.innerHTML">Again</button>
        <button id=move onclick="history.pushState({}, '', '/sets-going?moved'); document.title = 'Moved'">Move</button>
        <a id=away href=/second>Away</a> <a id=apart target=_blank rel=noopener href=/second>Apart</a>""",
    "/redrawn": """<title>Redrawn</title><div id=list></div><script>
        let names = ['Ann', 'Bob', 'Cid'];
        const draw = () => { list.innerHTML = names.map(name => `<p>${name} <button>Delete</button></p>`).join(''); };
        draw();
        list.onclick = event => {
          if (names.length === 1) document.title = 'clicked';
          names = names.filter(name => !event.target.parentElement.textContent.startsWith(name));
          draw();
        };
        </script>""",
    "/drawing": """<title>Drawing</title>
        <button><svg width=16 height=16><title>Close</title><path d="M0 0h16v16"/></svg></button>
        <svg id=chart width=300 height=200><title>Sales</title><style>text { fill: red }</style>
        <defs><text>in defs</text></defs><text y=190>January</text>
        <g id=node><rect width=80 height=30 fill=white /><text y=20>Start <tspan>here</tspan></text></g></svg>
        <svg width=100 height=100 role=img aria-label=Map><path d="M0 0h50v50H0z" id=town aria-label=Bonn /></svg>
        <script>for (const one of [node, town]) one.addEventListener('click', () => { document.title = one.id; });
        </script>""",
    "/strict": """<meta http-equiv=Content-Security-Policy content="script-src 'self'"><title>Strict</title>Strict""",
    "/refusing": """<title>Refusing</title><input aria-label=Shown readonly value=x>
        <select aria-label=Size><option>Small<option disabled>Large</select>
        <main><button aria-label=Behind inert>Behind</button></main>""",
    "/clobbered": """<title>Clobbered</title><form role=search onclick="" style="height:200px;overflow:auto">"""
    + "".join(f"<input name={name} aria-label={name}>" for name in HIDING)
    + """<button type=button onclick="document.title = 'clicked'">Go</button>
        <p style="height:900px">.<p>Below</form>""",
    "/drawn-editors": """<title>Drawn editors</title><style>
        .editor { position: relative; width: 300px; height: 60px } .drawn { position: absolute; inset: 0 }
        .field { position: absolute; padding: 0; border: 0; outline: 0 }</style>
        <div class=editor><div class=field role=textbox tabindex=0 aria-label=Monaco style="width:0;height:18px"></div>
        <div class=drawn></div></div>
        <div class=editor><div style="overflow:hidden;position:relative;width:3px;height:0"><textarea class=field
        aria-label=CodeMirror style="width:1000px;height:1em"></textarea></div><div class=drawn></div></div>
        <div class=editor><textarea class=field aria-label=Ace style="opacity:0;width:1px;height:1em"></textarea>
        <div class=drawn></div></div>
        <div class=editor><textarea class=field aria-label=Shell style="width:0;height:0;left:-9999em"></textarea>
        <div class=drawn></div></div>
        <div class=editor><textarea class=field aria-label=Lost style="opacity:0"></textarea></div>
        <div style="position:absolute;inset:260px 0 0 0;background:#fff">In front</div>
        <textarea aria-label=Trap tabindex=-1 style="width:0;height:0;padding:0;border:0"></textarea><script>
        for (const field of document.querySelectorAll('.field')) {
          const draw = text => { field.closest('.editor').querySelector('.drawn').textContent += text; };
          if (field.localName === 'textarea') field.oninput = () => { draw(field.value); field.value = ''; };
          else (field.editContext = new EditContext()).addEventListener('textupdate', event => draw(event.text));
        }
        </script>""",
    "/covered-by-its-own": """<title>Covered</title><x-choice></x-choice><script>
        customElements.define('x-choice', class extends HTMLElement {
          constructor() {
            super();
            this.attachShadow({mode: 'open'}).innerHTML = `<div style="position: relative; width: 200px; height: 40px">
              <input aria-label=Extras readonly style="position: absolute; inset: 0">
              <div id=tags style="position: absolute; inset: 0"></div></div>`;
            this.shadowRoot.firstChild.addEventListener('click', () => { document.title = 'opened'; });
          }
        });
        </script>""",
    "/log": """<link rel=icon href="data:,"><title>Log</title>
        <script>console.log('said'); console.error('bad'); throw new Error('thrown')</script>""",
    "/flaky-icon": """<title>Flaky</title><link rel=icon href=/flaky.svg>""",
    "/with-icon": """<title>Icon</title><link rel="shortcut icon" href=/drawing.svg>""",
    "/inline-icon": """<title>Inline</title><link rel=icon
        href="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=">""",
    "/blocked-icon": """<title>Blocked</title><link rel=icon href="http://blocked.test/icon.png">""",
    "/animation": """<title>Animation</title><canvas id=c width=300 height=150></canvas><script>
        let i = 0; const draw = () => { const g = c.getContext('2d'); g.fillStyle = `hsl(${i++} 90% 50%)`;
        g.fillRect(0, 0, 300, 150); requestAnimationFrame(draw); }; draw(); </script>
        <button id=b onclick="document.title='clicked'"
            style="position:absolute;left:20px;top:200px;width:100px;height:40px">Go</button>
        <input id=i style="position:absolute;left:20px;top:300px">""",
    "/controls": """<title>Controls</title>
        <button onclick="document.title='clicked'"
            style="position:absolute;left:20px;top:200px;width:100px;height:40px">Go</button>
        <input style="position:absolute;left:20px;top:300px">""",
}


@cache
def zeros(size: int) -> bytes:
    """So many zeros, packed."""
    packer = zlib.compressobj(wbits=31)
    block = bytes(1024 * 1024)
    parts = [packer.compress(block) for _ in range(size // len(block))]
    return b"".join((*parts, packer.compress(bytes(size % len(block))), packer.flush()))


@dataclass
class Site:
    """A running site.

    Attributes:
        address: Where it is, without a slash at the end.
        asked: Paths that were asked for.
        agents: Who asked, in the words of the header `User-Agent`.
        hanging: Ends the answers that never end.
        gate: Lets answers of `/gate` pass.
    """

    address: str = ""
    asked: list[str] = field(default_factory=list)
    agents: list[str] = field(default_factory=list)
    hanging: asyncio.Event = field(default_factory=asyncio.Event)
    gate: asyncio.Event = field(default_factory=asyncio.Event)

    def url(self, path: str) -> str:
        return f"{self.address}{path}"


def page_of(path: str) -> web.Response:
    body = PAGES.get(path)
    if body is None:
        return web.Response(status=404, text="<title>Not found</title>nothing here", content_type="text/html")
    return web.Response(text=f"<!doctype html>{body}", content_type="text/html")


async def redirect(site: Site, request: web.Request) -> web.StreamResponse:
    raise web.HTTPFound("http://blocked.test/" if "blocked" in request.path else "/second")


async def gate(site: Site, request: web.Request) -> web.StreamResponse:
    await site.gate.wait()
    return page_of(request.path)


async def never(site: Site, request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/html"})
    await response.prepare(request)
    await response.write(b"<title>Never</title><h1>Half</h1>")
    await site.hanging.wait()
    return response


async def drawing(site: Site, request: web.Request) -> web.StreamResponse:
    return web.Response(text='<svg xmlns="http://www.w3.org/2000/svg"/>', content_type="image/svg+xml")


async def flaky_drawing(site: Site, request: web.Request) -> web.StreamResponse:
    """A drawing that the server cannot send at the first visit of its page."""
    if site.asked.count("/flaky-icon") == 1:
        return web.Response(status=503)
    return await drawing(site, request)


async def download(site: Site, request: web.Request) -> web.StreamResponse:
    return web.Response(body=b"data," * 100, headers={"Content-Disposition": 'attachment; filename="data.csv"'})


async def broken_download(site: Site, request: web.Request) -> web.StreamResponse:
    headers = {"Content-Disposition": 'attachment; filename="half.bin"', "Content-Length": "1000000"}
    response = web.StreamResponse(headers=headers)
    await response.prepare(request)
    await response.write(b"half")
    assert request.transport is not None
    request.transport.close()
    return response


HUGE_BYTES = 4 * 1024 * 1024 + 1
"""Of `/download-huge`: more than the bound of a test."""


async def huge_download(site: Site, request: web.Request) -> web.StreamResponse:
    # zeros pack well: little is sent, and much is written
    headers = {"Content-Disposition": 'attachment; filename="huge.bin"', "Content-Encoding": "gzip"}
    return web.Response(body=zeros(HUGE_BYTES), headers=headers)


async def guarded(site: Site, request: web.Request) -> web.StreamResponse:
    if request.headers.get("Authorization") == "Basic " + b64encode(b"ada:s3cret:word").decode():
        return web.Response(text="<title>Inside</title>", content_type="text/html")
    asks = {"WWW-Authenticate": 'Basic realm="The archive"'}
    text = "" if request.path.endswith("empty") else "<title>Outside</title>"
    return web.Response(status=401, headers=asks, text=text, content_type="text/html")


SPECIAL: dict[str, Callable[[Site, web.Request], Awaitable[web.StreamResponse]]] = {
    "/redirect": redirect,
    "/redirect-blocked": redirect,
    "/gate": gate,
    "/guarded": guarded,
    "/guarded-empty": guarded,
    "/never": never,
    "/drawing.svg": drawing,
    "/flaky.svg": flaky_drawing,
    "/download": download,
    "/download-broken": broken_download,
    "/download-huge": huge_download,
}


@asynccontextmanager
async def running_site() -> AsyncIterator[Site]:
    """Serve the pages on a free port of loopback."""
    site = Site()

    async def page(request: web.Request) -> web.StreamResponse:
        site.asked.append(request.path)
        site.agents.append(request.headers.get("User-Agent", ""))
        special = SPECIAL.get(request.path)
        return page_of(request.path) if special is None else await special(site, request)

    app = web.Application()
    app.router.add_route("GET", "/{path:.*}", page)
    runner = web.AppRunner(app, shutdown_timeout=1)
    await runner.setup()
    listener = web.TCPSite(runner, "127.0.0.1", 0)
    await listener.start()
    port = runner.addresses[0][1]
    site.address = f"http://127.0.0.1:{port}"
    try:
        yield site
    finally:
        site.hanging.set()
        site.gate.set()
        await runner.cleanup()
