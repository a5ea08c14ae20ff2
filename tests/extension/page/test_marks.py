"""Highlights, underlines, what they leave of the page; scrolling and reading."""

import pytest

from tests.extension.page.conftest import Tab

pytestmark = pytest.mark.spec("C4")

_PAGE = """<style>p { color: navy }</style><p id=first style="color:red">The <b>quick</b> brown <i>fox</i> jumps.</p>
    <p id=second>A field <input value=x> and a <button>button</button></p><my-box></my-box>
    <script>customElements.define('my-box', class extends HTMLElement { connectedCallback() {
        this.attachShadow({mode: 'open'}).innerHTML = '<span>Inside of a shadow</span>'; } });
    const markup = document.documentElement.outerHTML;</script>"""
_SAME = "document.documentElement.outerHTML.slice(0, markup.length - 20) === markup.slice(0, -20)"
_STEP = "Math.round(innerHeight * 80 / (document.documentElement.scrollHeight - innerHeight))"
_MARKS = "[CSS.highlights.size, document.getAnimations({subtree: true}).length, document.adoptedStyleSheets.length]"


async def test_marks_change_no_byte_of_the_page_and_go_away(open_tab):
    tab: Tab = await open_tab(_PAGE)
    await tab.page.evaluate("getSelection().setBaseAndExtent(first.firstChild, 0, second.firstChild, 7)")
    assert await tab.messages(
        ("highlight",),
        ("highlight", "quick brown FOX"),
        ("underline", "css=#second"),
        ("highlight", "css=button", None, "rgb(0 0 255)"),
        ("highlight", "css=#first", "jumps", "green"),
        ("underline", {}, "of a shadow"),
    ) == [
        "Highlighted: The quick brown fox jumps. A field",
        "Highlighted: quick brown FOX",
        "Underlined: A field and a button",
        "Highlighted: button",
        "Highlighted: jumps",
        "Underlined: of a shadow",
    ]
    background = "getComputedStyle(document.querySelector('button')).backgroundColor"
    assert await tab.page.evaluate(background) == "rgb(0, 0, 255)"
    ranges = "[...CSS.highlights.values()].flatMap((each) => [...each].map(String))"
    assert await tab.page.evaluate(ranges) == [
        "The quick brown fox jumps.\n    A field",
        "quick brown fox",
        "A field  and a button",
        "jumps",
        "of a shadow",
    ]
    assert await tab.page.evaluate(_SAME)
    assert await tab.messages(
        ("highlight", "no such words"),
        ("highlight", "css=#first", "elsewhere"),
        ("highlight", "css=#first", None, "red; } * { display: none"),
        ("highlight", "css=#first", None, "url(//x)"),
    ) == [
        "✗ Target element not found",
        "✗ The page has no such text: elsewhere",
        "✗ “red; } * { display: none” is no colour",
        "✗ “url(//x)” is no colour",
    ]
    await tab.page.evaluate("document.querySelector('button').remove(); getSelection().removeAllRanges()")
    after = await tab.page.evaluate("document.documentElement.outerHTML")
    assert await tab.messages(("underline",)) == ["✗ Nothing is selected"]
    assert await tab.call("clear_ai_styles") == {"success": True, "message": "Cleared 6 marks"}
    assert await tab.page.evaluate(_MARKS) == [0, 0, 0]
    assert await tab.page.evaluate("document.documentElement.outerHTML") == after


async def test_marks_hold_under_a_strict_policy_of_the_page(open_tab, site):
    policy = "default-src 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    page = '<!doctype html><title>Strict</title><p>Words</p><input placeholder="Name"><button>Go</button>'
    site.show("/strict", page, content_security_policy=policy)
    tab: Tab = await open_tab(path="/strict")
    violations = []
    tab.page.on("console", lambda message: violations.append(message.text))
    assert await tab.descriptions() == ["input:Name(placeholder:Name)", "button:Go"]
    assert await tab.messages(
        ("fill", "input:Name", "Ada"),
        ("click", "button:Go"),
        ("highlight", "Words"),
        ("highlight", "css=p", None, "rgb(0, 0, 255)"),
    ) == ["Filled: Name", "Clicked: Go", "Highlighted: Words", "Highlighted: Words"]
    assert await tab.page.locator("p").evaluate("(p) => getComputedStyle(p).backgroundColor") == "rgb(0, 0, 255)"
    assert await tab.page.input_value("input") == "Ada"
    assert await tab.call("clear_ai_styles") == {"success": True, "message": "Cleared 2 marks"}
    assert [each for each in violations if "favicon" not in each] == []


async def test_page_and_its_boxes_scroll_and_elements_are_read(open_tab):
    tab: Tab = await open_tab("""<div id=box style="height: 100px; overflow: auto">
        <div style="height: 1000px">In</div></div>
        <div style="height: 3000px"></div><p id=end>The<br>end</p><select><option>One</select>
        <input type=checkbox checked aria-label=Tick><input id=name value=Ada>""")
    down, *others = await tab.messages(
        ("scroll", {}, None, "down"),
        ("scroll", {}, None, "bottom"),
        ("scroll", {}, None, "down"),
        ("scroll", {}, None, "top"),
        ("scroll", "css=#box", None, "bottom"),
        ("scroll", "css=#end"),
        ("scroll",),
    )
    assert down == f"Scrolled: now at {await tab.page.evaluate(_STEP)} %"
    assert others == [
        "Scrolled: now at 100 %",
        "Scrolled: this is the bottom already",
        "Scrolled: now at 0 %",
        "Scrolled: now at 100 %",
        "Scrolled to: The end",
        "✗ Where to? Give params.direction (up, down, top, bottom) or a target",
    ]
    assert await tab.page.evaluate("box.scrollTop") == 900
    read = [("read", each) for each in ("css=#end", "css=select", "css=[type=checkbox]", "css=#name")]
    assert await tab.messages(*read) == ["Read: The\nend", "Read: One", "Read: true", "Read: Ada"]
    await tab.page.evaluate("getSelection().selectAllChildren(end)")
    assert await tab.messages(("read",)) == ["Read: The\nend"]
