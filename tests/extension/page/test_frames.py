"""Frames, shadow roots, navigation: which page a tab is, and when it is not any more."""

from contextlib import suppress

import pytest
from playwright.async_api import Error, expect

from tests.extension.page.conftest import Tab

pytestmark = pytest.mark.spec("C4")

_FIELD = "<title>Inner</title><form><input placeholder='{0}'><button type=button>{0} button</button></form>"


async def test_frames_that_are_allowed_are_described_and_used_and_others_left_alone(open_tab, site):
    for name in ("same", "allowed", "other"):
        site.show(f"/{name}", _FIELD.format(name))
    inner = [site.url("/same"), site.url("/allowed", "pay.localhost"), site.url("/other", "127.0.0.1")]
    frames = "".join(f"<iframe src='{url}' width=250 height=80></iframe>" for url in inner)
    body = f"<h1>Outer</h1>{frames}<iframe srcdoc=\"<input placeholder='written'>\" width=250 height=80></iframe>"
    tab: Tab = await open_tab(f"{body}<iframe src='{inner[0]}' style='display: none'></iframe>")
    await tab.page.frame_locator("iframe >> nth=2").get_by_role("button").wait_for()
    assert sorted(await tab.descriptions()) == [
        "button:allowed button",
        "button:same button",
        "input:allowed(placeholder:allowed)",
        "input:same(placeholder:same)",
        "input:written(placeholder:written)",
    ]
    assert await tab.messages(
        ("fill", {"elementId": await tab.id_of("input:allowed")}, "Ada"),
        ("fill", "input:written", "Bob"),
        ("click", "button:other button"),
    ) == ["Filled: allowed", "Filled: written", "✗ Target element not found"]
    assert await tab.page.frame_locator("iframe >> nth=1").locator("input").input_value() == "Ada"
    await tab.page.frames[2].evaluate("getSelection().selectAllChildren(document.querySelector('button'))")
    assert await tab.call("get_selected_text") == {"success": True, "text": "allowed button"}
    assert await tab.messages(("highlight",)) == ["Highlighted: allowed button"]
    assert await tab.page.frames[2].evaluate("CSS.highlights.size") == 1


async def test_secret_of_another_origin_is_asked_about_with_that_origin(open_tab, site):
    site.show("/pay", "<input aria-label='Card number'>")
    origin = site.url("", "pay.localhost")
    tab: Tab = await open_tab(f"<iframe src='{origin}/pay'></iframe>", answer=True)
    assert await tab.messages(("fill", {"selector": "input"}, "4111111111111111")) == ["Filled: Card number"]
    assert tab.questions == ({"kind": "payment", "label": "Card number", "origin": origin},)


async def test_shadow_roots_are_walked_and_more_elements_are_given_by_place_kind_and_word(open_tab):
    tab: Tab = await open_tab(
        """<header><a href=/home>Home</a></header>
        <main>"""
        + "".join(f"<a href=/item{each}>Item {each}</a> " for each in range(50))
        + """<my-field></my-field></main>
        <div style="height: 3000px"></div><footer><a href=/imprint>Imprint</a><button>Late</button></footer>
        <script>customElements.define('my-box', class extends HTMLElement { connectedCallback() {
            this.attachShadow({mode: 'open'}).innerHTML = '<label>Deep <input></label>'; } });
        customElements.define('my-field', class extends HTMLElement { connectedCallback() {
            this.attachShadow({mode: 'open'}).innerHTML = '<my-box></my-box>'; } });</script>"""
    )

    async def more(**wanted):
        return [each["desc"] for each in (await tab.call("request_more_elements", wanted))["elements"]]

    first = await tab.descriptions()
    assert len(first) == 30
    assert "input:Deep" in first
    others = await more()
    assert len(others) == 24
    assert not set(first) & set(others)
    assert await more(region="footer") == ["link:Imprint", "button:Late"]
    assert await more(region="below_viewport", elementType="button") == ["button:Late"]
    assert await more(region="header", elementType="link") == ["link:Home"]
    assert await more(keyword="item 4") == [f"link:Item {each}" for each in (4, *range(40, 50))]
    assert await more(elementType="input") == ["input:Deep"]
    assert await tab.messages(("fill", "Deep", "x")) == ["Filled: Deep"]
    tab.locale = "zh"
    assert await more(elementType="input") == ["输入框:Deep(当前值:x)"]


async def test_ids_live_as_long_as_their_elements(open_tab, site):
    site.show("/other", "<title>Other</title><button>Other</button>")
    tab: Tab = await open_tab("<div><button onclick='count = (window.count ?? 0) + 1'>Count</button></div>")
    button = {"elementId": await tab.id_of("button:Count")}
    await tab.page.evaluate("window.kept = document.querySelector('button'); kept.remove()")
    assert await tab.messages(("click", button)) == ["✗ Target element not found"]
    await tab.page.evaluate("document.body.append(kept)")
    assert await tab.messages(("click", button)) == ["Clicked: Count"]
    await tab.page.goto(site.url("/other"))
    assert await tab.messages(("click", button)) == ["✗ Target element not found"]
    await tab.page.go_back()
    is_kept = await tab.page.evaluate("window.count === 1")
    assert await tab.messages(("click", button)) == ["Clicked: Count" if is_kept else "✗ Target element not found"]
    await tab.page.reload()
    assert await tab.messages(("click", button)) == ["✗ Target element not found"]


async def test_action_that_leaves_the_page_is_told_from_those_after_it(open_tab, site):
    site.show("/next", "<title>Next</title><button>Same words</button>")
    tab: Tab = await open_tab("<a href=/next>Go</a><div contenteditable oninput='textContent = 1'>Old</div>")
    # the second waits for what the page will never show, and the third comes too late
    first, second, third = await tab.messages(
        ("click", "link:Go"), ("fill", "css=[contenteditable]", "x"), ("click", "button:Same words")
    )
    assert first == "Clicked: Go"
    assert second.startswith("✗ ")
    assert third == "✗ Not run: the page was left by an action before it"
    assert await tab.descriptions() == ["button:Same words"]


async def test_page_that_is_left_in_the_middle_of_an_action_interrupts_it(open_tab, site):
    site.show("/next", "<title>Next</title>")
    tab: Tab = await open_tab("""<div contenteditable onfocus="location = '/next'"
        oninput="textContent = 'Old'">Old</div>""")
    assert (await tab.act(("fill", "css=div", "New")))["type"] == "interrupted"
    await tab.page.wait_for_url("**/next")


@pytest.mark.parametrize(
    ("address", "error"),
    [
        ("chrome://version", "page_forbidden"),
        ("http://127.0.0.1:{port}/page", "permission_needed"),
        ("http://localhost:{closed}/", "page_gone"),
    ],
)
async def test_pages_that_cannot_be_used_say_why(open_tab, site, unused_tcp_port, address, error):
    tab: Tab = await open_tab("<p>Page")
    with suppress(Error):  # nobody answers there, and the browser's own page comes a little later
        await tab.page.goto(address.format(port=site.port, closed=unused_tcp_port))
    await expect(tab.page).not_to_have_url(site.url("/page"))
    assert (await tab.context())["type"] == error
    assert (await tab.act(("click", "css=p")))["type"] == error
    await tab.page.close()
    assert (await tab.context())["type"] == "page_gone"
