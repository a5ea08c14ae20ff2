"""Editors, grids and form elements of widely used libraries, as they are: from npm, served on loopback."""

import re
import subprocess
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

ROOT = Path(__file__).parents[4]
PACKAGES = {
    "monaco-editor": "monaco-editor",
    "@codemirror/commands": "codemirror@6.0.2",  # the newest one under this name is of the line before
    "@codemirror/lang-python": "@codemirror/lang-python",
    "ag-grid-community": "ag-grid-community",
    "@shoelace-style/shoelace": "@shoelace-style/shoelace",
}
"""What is looked for, and what is installed to get it."""

MISSING = [name for name in PACKAGES if not (ROOT / "node_modules" / name).is_dir()]

pytestmark = [
    pytest.mark.spec("B2"),
    pytest.mark.more,
    pytest.mark.skipif(bool(MISSING), reason=f"npm install --no-save {' '.join(PACKAGES.values())}"),
]

CODE = (
    'def f(x):\n    if x:\n        print("hi")\n        return {\n            "a": [1, 2],\n        }\n    return 2\n'
)
MONACO = """<div id=box style="width:800px;height:400px"></div><script src=/npm/monaco-editor/min/vs/loader.js></script>
    <script>require.config({paths: {vs: '/npm/monaco-editor/min/vs'}});
    require(['vs/editor/editor.main'], () => {
      const editor = monaco.editor.create(box, {value: 'old', language: 'python'});
      window.held = () => editor.getValue();
    })</script>"""
CODEMIRROR = """<body><script src=/made/codemirror.js></script>"""
CODEMIRROR_SOURCE = """import {EditorView, basicSetup} from 'codemirror';
    import {python} from '@codemirror/lang-python';
    const view = new EditorView({doc: 'old', extensions: [basicSetup, python()], parent: document.body});
    window.held = () => view.state.doc.toString();"""
GRID = """<div id=grid style="height:500px;width:900px"></div>
    <script src=/npm/ag-grid-community/dist/ag-grid-community.min.js></script><script>
    const columns = Array.from({length: 30}, (_, i) => `c${i}`);
    const row = (_, i) => Object.fromEntries(columns.map(name => [name, `${name} of ${i}`]));
    const api = agGrid.createGrid(grid, {columnDefs: columns.map(field => ({field, editable: true})),
      rowData: Array.from({length: 50000}, row), onGridReady() { window.held = () => changed; },
      onCellValueChanged(event) { changed = [event.rowIndex, event.colDef.field, event.newValue]; }});
    let changed = null;</script>"""
SHOELACE = """<script type=module src=/npm/@shoelace-style/shoelace/cdn/shoelace.js></script>
    <link rel=stylesheet href=/npm/@shoelace-style/shoelace/cdn/themes/light.css><form id=form>
    <sl-input name=name label=Name></sl-input><sl-input name=born type=date></sl-input>
    <sl-textarea name=bio></sl-textarea>
    <sl-select name=city><sl-option value=b>Berlin</sl-option><sl-option value=p>Paris</sl-option></sl-select>
    <sl-radio-group name=size><sl-radio value=s>Small</sl-radio><sl-radio value=l>Large</sl-radio></sl-radio-group>
    <sl-checkbox name=ok value=yes>Agree</sl-checkbox><sl-range name=much min=0 max=10></sl-range></form><script>
    Promise.all([...form.children].map(one => customElements.whenDefined(one.localName)))
      .then(() => { window.held = () => Object.fromEntries(new FormData(form)); })</script>"""
PAGES = {"monaco": MONACO, "codemirror": CODEMIRROR, "grid": GRID, "shoelace": SHOELACE}


@pytest.fixture
def shown(act, tmp_path):
    """Open a page with a library in it; gives what asks it what it holds."""

    @asynccontextmanager
    async def showing(name):
        async def page(request):
            return web.Response(text=f"<!doctype html>{PAGES[name]}", content_type="text/html")

        app = web.Application()
        app.router.add_get("/", page)
        app.router.add_static("/npm/", ROOT / "node_modules")
        app.router.add_static("/made/", tmp_path)
        runner = web.AppRunner(app, shutdown_timeout=1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        try:
            address = f"http://127.0.0.1:{runner.addresses[0][1]}/"
            await act("browser_navigate", url=address, waitUntil="commit", timeoutMs=120_000)
            await act("browser_wait_for", condition="!!window.held", timeout=120_000)
            yield lambda: _value(act)
        finally:
            await runner.cleanup()

    return showing


async def _value(act):
    return (await act("browser_evaluate", script="held()")).data["value"]


@pytest.mark.parametrize(
    ("name", "field", "editor"),
    [
        ("monaco", ".native-edit-context, .monaco-editor textarea", ".monaco-editor"),
        ("codemirror", ".cm-content", ".cm-editor"),
    ],
)
async def test_code_in_an_editor_is_what_was_typed(act, shown, tmp_path, name, field, editor):
    bundler = [str(ROOT / "node_modules" / ".bin" / "esbuild"), "--bundle", "--format=iife", "--log-level=error"]
    made = f"--outfile={tmp_path / 'codemirror.js'}"
    subprocess.run([*bundler, made], input=CODEMIRROR_SOURCE, text=True, cwd=ROOT, check=True)
    async with shown(name) as held:
        for selector in (field, editor):
            typed = await act("browser_type", selector=selector, text=CODE)
            assert (typed.data["note"], await held()) == ("", CODE)
        text = (await act("browser_snapshot")).blocks()[0].text
        await act("browser_click", selector=re.search(r"textbox .*\[ref=(\w+)\]", text)[1])
        await act("browser_press_key", key="End", modifiers=["Control"])
        typed = await act("browser_type", text="g = ('x')")
        assert (typed.data["note"], await held()) == ("", CODE + "g = ('x')")


async def test_cell_far_below_and_to_the_right_is_reached_and_edited(act, shown):
    async with shown("grid") as held:
        cell = '[row-index="34567"] [col-id="c25"]'
        assert (await act("browser_scroll", to=cell)).data["found"] is True
        await act("browser_click", selector=cell, doubleClick=True)
        await act("browser_type", selector=f"{cell} input", text="new", submit=True)
        assert await held() == [34567, "c25", "new"]
        assert (await act("browser_scroll", to='[aria-rowindex="12"]')).data["found"] is True


async def test_form_of_a_library_s_own_elements_is_filled(act, shown):
    wanted = {"name": "Ada", "born": "2020-02-03", "bio": "a\n  b", "city": "Paris", "size": "Large", "much": "7"}
    async with shown("shoelace") as held:
        fields = [{"selector": f"[name={name}]", "value": value} for name, value in wanted.items()]
        await act("browser_fill_form", fields=[*fields, {"selector": "sl-checkbox", "value": True}])
        assert await held() == {**wanted, "city": "p", "size": "l", "ok": "yes"}
