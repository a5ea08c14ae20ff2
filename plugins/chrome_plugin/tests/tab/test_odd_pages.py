"""Pages that never finish, that replace JavaScript's own objects, and that are no HTML."""

import asyncio
import json
import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from aiohttp import web

SHARES_PAGE = True

SHOP = "<title>Shop</title><h1>Shop</h1><button onclick=\"document.title = 'bought'\">Buy</button>"
FIELDS = "<h1>Page</h1><input id=a><button onclick=\"document.title = 'clicked'\">Go</button>"
PAGES = {
    "/image": f"{SHOP}<img src=/never>",
    "/script": f"{SHOP}<script src=/never></script><p>after",
    "/stylesheet": f"<link rel=stylesheet href=/never>{SHOP}",
    "/late-style": "<script>seen = []; new MutationObserver(all => seen.push(...all.map(each => each.attributeName)))"
    ".observe(document, {subtree: true, attributes: true})</script>"
    f"<link id=late rel=stylesheet media=screen href=/style onload='seen.push(media)'>{SHOP}",
    "/frame": f"{SHOP}<iframe src=/never></iframe>",
    "/stream": f"{SHOP}<script>new EventSource('/never'); fetch('/never')</script>",
    "/font": f"{SHOP}<style>@font-face {{ font-family: Late; src: url(/never) }} h1 {{ font-family: Late }}</style>",
    "/map": "<map name=m><area alt=North href=/clean coords='0,0,50,50'>"
    "<area alt=South href=/lines coords='50,50,90,90'>"
    '</map><img usemap=#m width=100 height=100 alt=Map src="data:image/svg+xml,'
    "<svg xmlns='http://www.w3.org/2000/svg' width='100' height='100'/>\">",
    "/lines": "<pre>first line\n  second line</pre>",
    "/clean": FIELDS,
}
XHTML = (
    '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>X</title></head><body><h1>Head</h1>'
    '<input name="a"/><select><option>One</option></select><a href="/clean">Link</a>'
    "<table><tr><td>cell</td></tr></table></body></html>"
)
REPLACED = [
    "; ".join(f"window.{name} = function () {{}}" for name in (
        "Map", "Set", "WeakSet", "WeakMap", "Promise", "Array", "String", "Symbol", "Error", "Date", "Node",
        "MutationObserver",
    )),
    "window.Reflect = window.Proxy = undefined; window.JSON = {stringify: () => 'no', parse: () => 'no'}",
    "Date.now = () => 0; performance.now = () => 0; window.setTimeout = window.requestAnimationFrame = () => 0",
    "Array.prototype.toJSON = String.prototype.toJSON = function () { return 'bad' }",
    "Object.prototype.toJSON = function () { return 'bad' }",
    "Object.keys = Object.entries = Object.assign = () => 'bad'",
    "document.querySelector = document.querySelectorAll = window.getComputedStyle = () => null",
    "Element.prototype.getBoundingClientRect = () => ({})",
]  # fmt: skip
"""Scripts of pages: what they replace gives other values. Where it throws: `test_replaced_globals.py`."""


async def wait_forever(request: web.Request) -> web.Response:
    await asyncio.Event().wait()
    return web.Response()


style_may_come = asyncio.Event()
styles_wanted: list[str] = []


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def odd() -> AsyncIterator[str]:
    """The address of a server of odd pages."""

    def answering(body: str, mime: str = "text/html"):
        async def answer(request: web.Request) -> web.Response:
            return web.Response(text=body, content_type=mime)

        return answer

    async def replacing(request: web.Request) -> web.Response:
        script = REPLACED[int(request.match_info["number"])]
        return web.Response(text=f"<script>{script}</script>{FIELDS}", content_type="text/html")

    app = web.Application()
    for path, body in PAGES.items():
        app.router.add_get(path, answering(body))
    app.router.add_get("/replacing/{number}", replacing)
    app.router.add_get("/page.xhtml", answering(XHTML, "application/xhtml+xml"))
    app.router.add_get("/never", wait_forever)

    async def style(request: web.Request) -> web.Response:
        styles_wanted.append(request.path)
        await style_may_come.wait()
        return web.Response(text="button { color: rgb(1, 2, 3) }", content_type="text/css")

    app.router.add_get("/style", style)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    listening = web.TCPSite(runner, "127.0.0.1", 0)
    await listening.start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


@pytest.mark.parametrize("path", ["/image", "/script", "/stylesheet", "/frame"])
async def test_page_that_never_finishes_is_usable_and_says_what_is_missing(act, text, odd, path):
    arrived = await act("browser_navigate", url=f"{odd}{path}", timeoutMs=20_000)
    assert "(HTTP 200)" in text(arrived)
    assert f"It is still loading {odd}/never, and can be used." in text(arrived)
    assert 'button "Buy"' in text(await act("browser_snapshot"))
    await act("browser_click", selector="button")
    assert "bought" in text(await act("browser_get_state"))
    await act("browser_screenshot", timeoutMs=10_000)


@pytest.mark.more
async def test_stylesheet_that_is_late_is_applied_and_its_link_is_as_the_page_made_it(act, odd, value):
    await act("browser_navigate", url=f"{odd}/late-style", timeoutMs=20_000)
    await act("browser_click", selector="button")
    assert await value("late.media") == "screen"
    style_may_come.set()
    await act(
        "browser_wait_for", condition="getComputedStyle(document.querySelector('button')).color == 'rgb(1, 2, 3)'"
    )
    assert (await value("seen"))[-1] == "screen"
    assert await value("late.media") == "screen"
    assert styles_wanted == ["/style"]


async def test_server_that_never_answers_is_a_timeout(host, odd):
    error = (await host.outcome("browser_navigate", {"url": f"{odd}/never", "timeoutMs": 400})).error
    assert error.type == "navigation_timeout"


async def test_streams_and_requests_that_stay_open_are_not_waited_for(act, text, odd):
    assert "still loading" not in text(await act("browser_navigate", url=f"{odd}/stream", timeoutMs=20_000))


@pytest.mark.more
async def test_screenshot_does_not_wait_for_a_font_for_ever(act, odd):
    await act("browser_navigate", url=f"{odd}/font", timeoutMs=20_000)
    await act("browser_screenshot", timeoutMs=20_000)
    await act("browser_screenshot", full_page=True, timeoutMs=20_000)
    await act("browser_screenshot", selector="button", timeoutMs=20_000)


@pytest.mark.more
async def test_what_a_page_replaces_changes_nothing_for_the_tools(act, text, odd):
    for number, script in enumerate(REPLACED):
        await act("browser_navigate", url=f"{odd}/replacing/{number}")
        value = (await act("browser_evaluate", script='[1, "s", {a: [true, null]}]')).data["value"]
        assert value == [1, "s", {"a": [True, None]}], script
        await act("browser_type", selector="#a", text="typed")
        assert "textbox [ref=" in text(await act("browser_snapshot")), script
        assert "typed" in text(await act("browser_snapshot")), script
        await act("browser_click", selector="button")
        assert "clicked" in text(await act("browser_get_state")), script


async def test_values_of_scripts_become_json(act, odd, subtests):
    for script, value in [
        ("new Map([['a', new Set([1, 2])]])", {"a": [1, 2]}),
        (
            "({big: 12n, nan: NaN, none: undefined, f: () => 1, date: new Date(0)})",
            {"big": "12n", "nan": "NaN", "f": "() => 1", "date": "1970-01-01T00:00:00.000Z"},
        ),
        (r"'quote \" backslash \\ tab \t line \n null \0 é 日'", 'quote " backslash \\ tab \t line \n null \0 é 日'),
        ("(() => { const a = {}; a.self = a; return a })()", {"self": "[seen before]"}),
        ("document.querySelector('h1')", "<h1>Page</h1>"),
        ("document.querySelectorAll('h1')", ["<h1>Page</h1>"]),
        ("[,1]", [None, 1]),
        ("-0", 0),
    ]:
        with subtests.test(script=script, value=value):
            await act("browser_navigate", url=f"{odd}/clean")
            found = (await act("browser_evaluate", script=script)).data["value"]
            assert json.dumps(found) == json.dumps(value)


@pytest.mark.more
async def test_page_of_xhtml_has_roles_and_references(act, text, odd):
    await act("browser_navigate", url=f"{odd}/page.xhtml")
    shown = text(await act("browser_snapshot"))
    for part in ('heading "Head" [level=1]', "textbox [ref=", "combobox [ref=", 'link "Link" [ref=', "row: cell"):
        assert part in shown


@pytest.mark.more
async def test_areas_of_a_picture_are_links(act, text, odd):
    await act("browser_navigate", url=f"{odd}/map")
    shown = text(await act("browser_snapshot"))
    assert 'link "North" [ref=' in shown
    assert 'link "South" [ref=' in shown
    await act("browser_click", selector=re.search(r'link "South" \[ref=(\w+)\]', shown)[1])
    await act("browser_wait_for", condition="location.pathname === '/lines'")  # a busy browser goes there late


@pytest.mark.more
async def test_lines_of_preformatted_text_are_kept(act, text, odd):
    await act("browser_navigate", url=f"{odd}/lines")
    assert "- text: first line\n- text: second line" in text(await act("browser_snapshot"))


# -- the same pages in tabs that are named by id ------------------------------------------------------------------


@pytest.mark.more
@pytest.mark.parametrize("path", ["/image", "/script"])
async def test_tab_that_never_finishes_is_usable_and_says_what_is_missing(call, browser_id, tab, text, odd, path):
    opened = await call("chrome_new_tab", browserId=browser_id, url=f"{odd}{path}", timeoutMs=20_000)
    await call("chrome_close_tab", tabId=opened.data["tabId"])
    for arrived in (opened, await call("chrome_navigate", tabId=tab, url=f"{odd}{path}", timeoutMs=20_000)):
        assert f"It is still loading {odd}/never, and can be used." in text(arrived)
    await call("chrome_click", tabId=tab, selector="button")
    assert (await call("chrome_get_url", tabId=tab)).data["title"] == "bought"
    await call("chrome_screenshot", tabId=tab, timeoutMs=10_000)


@pytest.mark.more
async def test_screenshot_of_a_tab_does_not_wait_for_a_font_for_ever(call, tab, odd):
    await call("chrome_navigate", tabId=tab, url=f"{odd}/font", timeoutMs=20_000)
    for arguments in ({}, {"fullPage": True}, {"selector": "button"}):
        assert (await call("chrome_screenshot", tabId=tab, timeoutMs=10_000, **arguments)).blocks()


@pytest.mark.more
async def test_what_a_page_replaces_changes_nothing_for_the_tools_by_id(call, tab, odd):
    for number, script in enumerate(REPLACED):
        await call("chrome_navigate", tabId=tab, url=f"{odd}/replacing/{number}")
        value = (await call("chrome_evaluate", tabId=tab, script='[1, "s", {a: [true, null]}]')).data["value"]
        assert value == [1, "s", {"a": [True, None]}], script
        await call("chrome_type", tabId=tab, selector="#a", text="ty")
        await call("chrome_fill", tabId=tab, selector="#a", text="filled")
        assert "Page" in (await call("chrome_get_text", tabId=tab)).data["text"], script
        assert "<h1>" in (await call("chrome_get_content", tabId=tab)).data["html"], script
        await call("chrome_wait_for", tabId=tab, selector="button")
        await call("chrome_click", tabId=tab, selector="button")
        assert (await call("chrome_get_url", tabId=tab)).data["title"] == "clicked", script
        await call("chrome_screenshot", tabId=tab)


@pytest.mark.more
async def test_page_of_xhtml_is_read_and_filled_by_id(call, tab, odd):
    await call("chrome_navigate", tabId=tab, url=f"{odd}/page.xhtml")
    await call("chrome_fill", tabId=tab, selector="input", text="typed")
    await call("chrome_fill", tabId=tab, selector="select", text="One")
    text = (await call("chrome_get_text", tabId=tab)).data["text"]
    for part in ("Head", "Link", "cell"):
        assert part in text
    await call("chrome_click", tabId=tab, selector="a")
    await call("chrome_wait_for", tabId=tab, url=f"{odd}/clean")


@pytest.mark.more
async def test_area_of_a_picture_is_clicked_by_id(call, tab, odd):
    await call("chrome_navigate", tabId=tab, url=f"{odd}/map")
    await call("chrome_click", tabId=tab, selector="area[alt=South]")
    await call("chrome_wait_for", tabId=tab, url=f"{odd}/lines")
    assert (await call("chrome_get_text", tabId=tab)).data["text"] == "first line\n  second line"
