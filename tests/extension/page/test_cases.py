"""Acting on the right thing, or not at all: the page tools follow the rules of the browser tools."""

import re

import pytest

from tests.extension.page.conftest import Tab

pytestmark = pytest.mark.spec("C4")

_COUNT = (
    "<script>const clicked = []; addEventListener('click', ({target}) => clicked.push(target.textContent));</script>"
)


async def test_several_matches_of_a_selector_are_listed_with_ids_and_nothing_is_done(open_tab):
    tab: Tab = await open_tab(f"<button>Delete all</button><button hidden>Draft</button><button>Send</button>{_COUNT}")
    (message,) = await tab.messages(("click", "css=button"))
    assert message.startswith("✗ 2 elements match, and nothing was done; name one by its id: ")
    ids = dict(re.findall(r"(e_\w+) button:([\w ]+)", message)[::-1])
    assert sorted(ids.values()) == ["Delete all", "Send"]
    assert await tab.page.evaluate("clicked") == []
    send = next(each for each, name in ids.items() if name == "Send")
    assert await tab.messages(("click", {"elementId": send}), ("read", "css=button")) == [
        "Clicked: Send",
        "Read: Delete all",
    ]
    assert await tab.page.evaluate("clicked") == ["Send"]


async def test_several_matches_of_each_action_are_refused(open_tab):
    tab: Tab = await open_tab("<input><input><select></select><select></select>" + "<input type=checkbox>" * 2)
    shown = await tab.messages(
        ("fill", "css=input:not([type])", "x"), ("select", "css=select", "x"), ("check", "css=[type=checkbox]")
    )
    assert all(message.startswith("✗ 2 elements match") for message in shown)
    tab.locale = "zh"
    (message,) = await tab.messages(("check", "css=[type=checkbox]"))
    assert message.startswith("✗ 有 2 个元素匹配，未执行任何操作；请用 id 指定其中一个: ")


async def test_only_visible_match_is_used(open_tab):
    tab: Tab = await open_tab(f"<button hidden>Send</button><button>Send</button>{_COUNT}")
    assert await tab.messages(("click", "css=button"), ("click", "button:Send")) == ["Clicked: Send", "Clicked: Send"]


async def test_matches_in_several_frames_are_several(open_tab):
    tab: Tab = await open_tab("<button>Pay</button><iframe srcdoc='<button>Pay</button>' width=200 height=80></iframe>")
    await tab.page.frame_locator("iframe").get_by_role("button").wait_for()
    for target in ("css=button", "button:Pay"):
        assert (await tab.messages(("click", target)))[0].startswith("✗ 2 elements match")


async def test_description_that_fits_several_elements_alike_means_none(open_tab):
    tab: Tab = await open_tab(
        "<article><h2>Pixel</h2><button>Buy</button></article><article><h2>iPhone</h2><button>Buy</button></article>"
        f"<a href=#top>Top</a><a href=#top>Top</a>{_COUNT}"
    )
    (message,) = await tab.messages(("click", "button:Buy"))
    assert "button:Buy(at: Pixel)" in message
    assert "button:Buy(at: iPhone)" in message
    assert await tab.page.evaluate("clicked") == []
    # links to one place are one thing
    assert await tab.messages(("click", "link:Top"), ("click", "button:Buy(at: iPhone)")) == [
        "Clicked: Top",
        "Clicked: Buy",
    ]


async def test_id_of_an_element_that_became_another_is_stale_until_that_is_told(open_tab):
    """Lists that re-use their rows give the element of one row to another."""
    tab: Tab = await open_tab(f"<button>Delete draft A</button><input aria-label=Name>{_COUNT}")
    row = {"elementId": await tab.id_of("button:Delete draft A")}
    field = {"elementId": await tab.id_of("input:Name")}
    await tab.page.evaluate("document.querySelector('button').textContent = 'Delete invoice B'")
    refused = await tab.act(("click", row))
    assert refused["elements"] == [{"id": row["elementId"], "desc": "button:Delete invoice B"}]
    await tab.page.evaluate("document.querySelector('button').textContent = 'Delete draft A'")
    await tab.descriptions()
    await tab.page.evaluate("document.querySelector('button').textContent = 'Delete invoice B'")
    (message,) = await tab.messages(("click", row))
    assert message == "✗ Not done: this was button:Delete draft A, and is button:Delete invoice B now"
    assert await tab.page.evaluate("clicked") == []
    assert await tab.messages(("fill", field, "a"), ("fill", field, "b"), ("click", row)) == [
        "Filled: Name",
        "Filled: Name",
        "Clicked: Delete invoice B",
    ]


async def test_option_is_chosen_by_its_label_before_its_value(open_tab):
    tab: Tab = await open_tab("<select aria-label=Number><option value=2>1<option value=3>2<option value=4>3</select>")
    assert await tab.messages(("select", "css=select", "2"), ("select", "css=select", "4")) == [
        "Selected: 2 (Number)",
        "Selected: 3 (Number)",
    ]


async def test_endless_animation_is_no_movement(open_tab):
    tab: Tab = await open_tab(
        "<style>@keyframes pulse { 50% { transform: scale(1.2) } } .pulse { animation: pulse 1s infinite }</style>"
        "<button class=pulse>Go</button>"
        f"<b class=pulse style='display: inline-block'><button>Inner</button></b>{_COUNT}"
    )
    assert await tab.messages(("click", "button:Go"), ("click", "button:Inner")) == ["Clicked: Go", "Clicked: Inner"]
    assert await tab.page.evaluate("clicked") == ["Go", "Inner"]


async def test_areas_of_a_picture_are_links(open_tab, site):
    site.show("/north", "<title>North</title>")
    tab: Tab = await open_tab(
        "<map name=m><area alt=North href=/north coords='0,0,50,50'><area alt=South href=#s coords='50,50,90,90'></map>"
        '<img usemap=#m width=100 height=100 alt=Map src="data:image/svg+xml,'
        "<svg xmlns='http://www.w3.org/2000/svg' width='100' height='100'/>\">"
    )
    assert await tab.descriptions() == ["link:North", "link:South"]
    assert await tab.messages(("click", "link:North")) == ["Clicked: North"]
    await tab.page.wait_for_url("**/north")


async def test_lines_of_preformatted_text_are_kept(open_tab):
    tab: Tab = await open_tab("<pre>first line\n  second line</pre>")
    assert await tab.messages(("read", "css=pre")) == ["Read: first line\n  second line"]


async def test_page_of_xhtml_is_described_and_used(open_tab, site):
    page = (
        '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>X</title></head><body><input title="Name"/>'
        '<select title="Size"><option>Small</option><option>Large</option></select><a href="#next">Next</a>'
        "</body></html>"
    )
    site.show("/page.xhtml", page, "application/xhtml+xml")
    tab: Tab = await open_tab(path="/page.xhtml")
    assert await tab.descriptions() == ["input:Name", "select:Size(value: Small)", "link:Next"]
    assert await tab.messages(
        ("fill", "input:Name", "ß日"), ("select", "select:Size", "Large"), ("click", "link:Next")
    ) == ["Filled: Name", "Selected: Large (Size)", "Clicked: Next"]
    assert await tab.page.evaluate("document.querySelector('input').value") == "ß日"


async def test_page_that_never_finishes_is_described_and_used(open_tab, site):
    arrives = site.hold("/never")
    site.show("/slow", f"<!doctype html><title>Slow</title><button>Buy</button><img src=/never>{_COUNT}")
    tab: Tab = await open_tab(path="/slow", wait_until="commit")
    assert await tab.descriptions() == ["button:Buy"]
    assert await tab.messages(("click", "button:Buy")) == ["Clicked: Buy"]
    assert await tab.page.evaluate("document.readyState") == "interactive"
    arrives.set()
