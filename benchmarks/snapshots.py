"""Snapshots beside those of `@playwright/mcp`: time, characters, and what can be acted on, on real editors, components,
grids and long pages.

The packages are installed once with npm and apt into a cache folder (`AGENTCORE_BENCH_CACHE`, else the user's cache).
Times are those of the tool `browser_snapshot` on both sides, each with a browser of its own, in turn; ours gives as
much as fits its bound. Characters are those of all lines. References are compared in one page that both have numbered.
"""

import asyncio
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiohttp import web

from benchmarks.browser_hosts import Call, driving_host, find_browser
from benchmarks.measure import Row, paired_async

if TYPE_CHECKING:
    from agentcore_chrome.tab.refs import Refs
    from playwright.async_api import Page

NPM = (
    "@playwright/mcp@0.0.83",
    "ag-grid-community@36.2.0",
    "monaco-editor@0.57.0",
    "quill@2.0.3",
    "@shoelace-style/shoelace@2.20.1",
)
DEBIAN = ("python3.11-doc",)
THEIRS = ("node", "node_modules/@playwright/mcp/cli.js", "--no-sandbox", "--headless", "--isolated")

_ANSWER_BYTES = 64 * 1024 * 1024
_COMPARED = 500
"""How many of their references are compared on a page, from its top."""

_TABLE_ROW = (
    '<tr><td>{0}</td><td>Name {0}</td><td><a href="/item/{0}">open</a></td><td><button>Delete</button></td></tr>'
)
_PAGES = {
    "quill": """<link rel=stylesheet href=/npm/quill/dist/quill.snow.css><div id=editor><p>Hello <b>world</b></p></div>
        <script src=/npm/quill/dist/quill.js></script><script>new Quill('#editor', {theme: 'snow'})</script>""",
    "shoelace": """<link rel=stylesheet href=/npm/@shoelace-style/shoelace/cdn/themes/light.css>
        <script type=module src=/npm/@shoelace-style/shoelace/cdn/shoelace.js></script>
        <form><sl-input label=Name></sl-input><sl-select label=Colour><sl-option value=r>Red</sl-option>
        <sl-option value=b>Blue</sl-option></sl-select><sl-checkbox>Agree</sl-checkbox><sl-switch>On</sl-switch>
        <sl-radio-group label=Size value=1><sl-radio value=1>Small</sl-radio><sl-radio value=2>Large</sl-radio>
        </sl-radio-group><sl-range label=Volume></sl-range><sl-rating label=Stars></sl-rating>
        <sl-textarea label=Text></sl-textarea><sl-color-picker label=Paint></sl-color-picker>
        <sl-dropdown open><sl-button slot=trigger caret>Menu</sl-button><sl-menu><sl-menu-item>Cut</sl-menu-item>
        <sl-menu-item>Copy</sl-menu-item></sl-menu></sl-dropdown>
        <sl-tree><sl-tree-item expanded>Fruit<sl-tree-item>Apple</sl-tree-item></sl-tree-item></sl-tree>
        <sl-tab-group><sl-tab slot=nav panel=a>First</sl-tab><sl-tab slot=nav panel=b>Second</sl-tab>
        <sl-tab-panel name=a>One</sl-tab-panel><sl-tab-panel name=b>Two</sl-tab-panel></sl-tab-group>
        <sl-details summary=More>Details</sl-details><sl-button type=submit>Send</sl-button></form>""",
    "ag-grid": """<div id=grid style="height:500px"></div>
        <script src=/npm/ag-grid-community/dist/ag-grid-community.min.js></script><script>
        agGrid.createGrid(grid, {rowSelection: {mode: 'multiRow'},
            columnDefs: ['make', 'model', 'price'].map(field => ({field, filter: true, editable: true})),
            rowData: Array.from({length: 1000}, (_, i) => ({make: 'Make ' + i, model: 'Model ' + i % 7, price: i * 10}))
        })</script>""",
    "monaco": """<div id=editor style="height:500px"></div><script src=/npm/monaco-editor/min/vs/loader.js></script>
        <script>require.config({paths: {vs: '/npm/monaco-editor/min/vs'}}); require(['vs/editor/editor.main'], () => {
        monaco.editor.create(editor, {language: 'javascript',
        value: Array.from({length: 60}, (_, i) => `function f${i}() {\\n  return ${i};\\n}`).join('\\n')})
        })</script>""",
    "table of 5,000 rows": f"<h1>Table</h1><table>{''.join(map(_TABLE_ROW.format, range(5000)))}</table>",
}
_PYTHON = "doc/python3.11/html"
ADDRESSES = {
    **{name: f"/page/{name}" for name in _PAGES},
    "Python's page of str": f"/{_PYTHON}/library/stdtypes.html",
    "Python's index": f"/{_PYTHON}/genindex-all.html",
}
_HUGE = frozenset(("table of 5,000 rows", "Python's index"))

_LISTENED = """(() => {
  window.listened = new Set();
  const wanted = ['click', 'dblclick', 'mousedown', 'mouseup', 'pointerdown', 'pointerup', 'dragstart', 'drop'];
  const look = root => {
    for (const element of root.querySelectorAll('*')) {
      if (wanted.some(type => getEventListeners(element)[type])) listened.add(element);
      if (element.shadowRoot) look(element.shadowRoot);
    }
  };
  look(document);
})()"""
"""Run with the console's API: which elements scripts listen to for clicks or drags."""

_MISSING = """() => {
  const control = 'a[href], button, input, select, textarea, summary, iframe, canvas, [contenteditable=""], '
    + '[contenteditable=true], [draggable=true], ' + ['button', 'link', 'checkbox', 'radio', 'option', 'menuitem',
    'tab', 'treeitem', 'gridcell', 'slider', 'switch', 'textbox', 'combobox', 'spinbutton', 'searchbox']
    .map(role => `[role=${role}]`).join();
  const above = element => element.assignedSlot ?? element.parentElement ?? element.getRootNode().host;
  const isIn = (inner, outer) => { while (inner && inner !== outer) inner = above(inner); return Boolean(inner); };
  const hand = element => getComputedStyle(element).cursor === 'pointer';
  const holdsControl = element => [...theirs].some(other =>
    other !== element && other.matches(control) && isIn(other, element));
  const standsFor = (ours, element) => {
    if (element.control === ours) return true;
    const box = element.getBoundingClientRect(), other = ours.getBoundingClientRect();
    const x = box.x + box.width / 2, y = box.y + box.height / 2;
    return (isIn(ours, element) || isIn(element, ours)) && other.left <= x && x <= other.right
      && other.top <= y && y <= other.bottom;
  };
  const found = [];
  let acted = 0;
  for (const element of theirs) {
    // no person sees or reaches it
    if (element.ariaHidden === 'true' && getComputedStyle(element).opacity === '0') continue;
    const isControl = element.matches(control) || (element.hasAttribute('tabindex') && element.tabIndex >= 0);
    const listens = listened.has(element) && !holdsControl(element);
    if (!isControl && !listens && !(hand(element) && !(above(element) && hand(above(element))))) continue;
    acted += 1;
    if (ours.has(element) || (!isControl && [...ours].some(one => standsFor(one, element)))) continue;
    found.push(element.cloneNode().outerHTML.slice(0, 200));
  }
  return [acted, found];
}"""
"""Of what they refer to: how much can be acted on, and what of that has neither a reference of ours nor a stand-in."""


def run() -> list[Row]:
    """Measure, and give the rows; none without a browser or node."""
    program = find_browser()
    if program is None or shutil.which("node") is None:
        return []
    cache = installed()
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_measure(cache, Path(folder), program))


def installed() -> Path:
    """The folder with the packages, installed if they are not there or are of other versions."""
    base = os.environ.get("AGENTCORE_BENCH_CACHE")
    user = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "agentcore-benchmarks"
    folder = (Path(base) if base else user) / "snapshots"
    mark = folder / ".installed"
    wanted = "\n".join((*NPM, *DEBIAN))
    if not mark.exists() or mark.read_text() != wanted:
        print(f"installing {', '.join((*NPM, *DEBIAN))} …", file=sys.stderr)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "package.json").write_text('{"private": true}')
        _run(folder, "npm", "install", "--no-audit", "--no-fund", "--silent", *NPM)
        _run(folder, "apt-get", "download", "--quiet", *DEBIAN)
        for package in folder.glob("*.deb"):
            _run(folder, "dpkg-deb", "--extract", str(package), str(folder))
        mark.write_text(wanted)
    return folder


def _run(folder: Path, *command: str) -> None:
    subprocess.run(command, cwd=folder, check=True, stdout=sys.stderr)


@asynccontextmanager
async def _served(cache: Path) -> AsyncIterator[str]:
    """The pages, and what they need; gives the address without a slash at its end."""

    async def page(request: web.Request) -> web.Response:
        name = request.match_info["name"]
        return web.Response(text=f"<!doctype html><title>{name}</title>{_PAGES[name]}", content_type="text/html")

    app = web.Application()
    app.router.add_get("/page/{name}", page)
    app.router.add_static("/npm/", cache / "node_modules")
    app.router.add_static("/doc/", cache / "usr/share/doc", follow_symlinks=True)
    runner = web.AppRunner(app, shutdown_timeout=1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@dataclass(slots=True)
class _Server:
    """An MCP server over its standard input and output."""

    process: asyncio.subprocess.Process
    numbers: "itertools.count[int]"

    async def call(self, tool: str, **arguments: Any) -> str:
        """Call a tool; the text of its result."""
        result = await self.ask("tools/call", {"name": tool, "arguments": arguments})
        return "\n".join(block["text"] for block in result["content"] if block["type"] == "text")

    async def ask(self, method: str, parameters: dict[str, Any]) -> Any:
        """Send a request; its result."""
        number = next(self.numbers)
        self.tell(method, parameters, id=number)
        assert self.process.stdout is not None
        while True:
            answer = json.loads(await self.process.stdout.readline())
            if answer.get("id") == number and "method" not in answer:
                return answer["result"]

    def tell(self, method: str, parameters: dict[str, Any], **more: Any) -> None:
        """Send a message that nobody answers."""
        message = {"jsonrpc": "2.0", "method": method, "params": parameters, **more}
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")


@asynccontextmanager
async def _theirs(cache: Path, folder: Path, program: str) -> AsyncIterator[_Server]:
    command = (THEIRS[0], str(cache / THEIRS[1]), *THEIRS[2:], "--executable-path", program)
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=folder,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=_ANSWER_BYTES,
    )
    try:
        server = _Server(process, itertools.count(1))
        client = {"name": "bench", "version": "1"}
        await server.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        server.tell("notifications/initialized", {})
        yield server
    finally:
        assert process.stdin is not None
        process.stdin.close()  # it ends its browser, and itself
        async with asyncio.timeout(30):
            await process.wait()


async def _measure(cache: Path, folder: Path, program: str) -> list[Row]:
    rows: list[Row] = []
    async with (
        _served(cache) as address,
        driving_host(folder / "app", program) as ours,
        _theirs(cache, folder, program) as theirs,
    ):
        for name, path in ADDRESSES.items():
            print(f"  {name}, load {os.getloadavg()[0]:.1f}", file=sys.stderr)
            url = address + path
            rows.append(await _time(name, url, ours, theirs))
            rows += await _contents(name, url, program)
    return rows


async def _time(name: str, url: str, ours: Call, theirs: _Server) -> Row:
    await ours("browser_navigate", url=url)
    await theirs.call("browser_navigate", url=url)
    rounds = 3 if name in _HUGE else 15
    pairs = await paired_async(
        lambda: ours("browser_snapshot"), lambda: theirs.call("browser_snapshot"), rounds, warm_up=1
    )
    return pairs.row(f"snapshot of {name}: time", 1.1)


async def _contents(name: str, url: str, program: str) -> list[Row]:
    """Characters and references, in a page that both number."""
    from agentcore_chrome.tab.page_tree import read_page
    from agentcore_chrome.tab.refs import Refs, register_selector_engine
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        await register_selector_engine(playwright)
        browser = await playwright.chromium.launch(executable_path=program)
        page = await browser.new_page(viewport={"width": 1280, "height": 720})
        await page.goto(url, wait_until="networkidle")
        session = await page.context.new_cdp_session(page)
        refs = Refs(itertools.count(1))
        tree = await read_page(page, refs, session, 120_000)
        theirs = await page.aria_snapshot(mode="ai", timeout=120_000)
        await session.send("Runtime.evaluate", {"expression": _LISTENED, "includeCommandLineAPI": True})
        our_refs = [line.ref for line in tree.lines if line.ref]
        their_refs = re.findall(r"\[ref=(e\d+)\]", theirs)
        acted, missing = await _missing(page, refs, our_refs, their_refs)
        await browser.close()
    for one in missing:
        print(f"    no reference: {one}", file=sys.stderr)
    size = len("\n".join(map(str, tree.lines)))
    of = f"of {acted} that can be acted on among their first {min(len(their_refs), _COMPARED):,}"
    return [
        Row(f"snapshot of {name}: characters in all", size, len(theirs), 1.0, ""),
        Row(f"snapshot of {name}: references", len(our_refs), len(their_refs), None, ""),
        Row(f"snapshot of {name}: without one, {of}", len(missing), 0, 0, ""),
    ]


async def _missing(page: "Page", refs: "Refs", ours: list[str], theirs: list[str]) -> tuple[int, list[str]]:
    await page.evaluate("() => { window.ours = new Set(); window.theirs = new Set(); }")
    for ref in theirs[:_COMPARED]:
        located = page.locator(f"aria-ref={ref}")
        if await located.count():  # an editor may have drawn itself anew
            await located.evaluate("element => { theirs.add(element); }")
    for ref in ours[: 2 * _COMPARED]:  # theirs are in the same order, and no fewer for the same part of the page
        found = await refs.find_element(page, ref)
        if found is not None:
            await found[0].evaluate("element => { ours.add(element); }")
    acted, missing = await page.evaluate(_MISSING)
    return acted, missing
