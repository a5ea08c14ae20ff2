"""Clicks on elements that something lies above."""

import re

import pytest

SHARES_PAGE = True

pytestmark = pytest.mark.spec("B2")


async def test_control_under_another_part_of_its_component_is_clicked_where_a_person_would(act, site):
    """The field of a multiple choice lies under its tags: a click there opens the list."""
    await act("browser_navigate", url=site.url("/covered-by-its-own"))
    await act("browser_click", selector="input")
    title = (await act("browser_evaluate", script="document.title")).data["value"]
    assert title == "opened"


@pytest.mark.more
async def test_editor_that_draws_its_text_is_clicked_by_the_field_that_it_hears_keys_by(act, fails, site):
    """The field of no size, clipped, or not to be seen: each has a reference, and takes what is typed after a click."""
    await act("browser_navigate", url=site.url("/drawn-editors"))
    text = (await act("browser_snapshot")).blocks()[0].text
    refs = dict(re.findall(r'textbox "(\w+)" \[ref=(\w+)\]', text))
    assert set(refs) == {"Monaco", "CodeMirror", "Ace", "Shell", "Lost"}
    for name in ("Monaco", "CodeMirror", "Ace", "Shell"):
        await act("browser_click", selector=refs[name])
        await act("browser_type", text=f"for {name};")
    drawn = await act("browser_evaluate", script="[...document.querySelectorAll('.drawn')].map(e => e.textContent)")
    assert drawn.data["value"] == ["for Monaco;", "for CodeMirror;", "for Ace;", "for Shell;"]
    covered = await fails("browser_click", selector=refs["Lost"], timeoutMs=1000)
    assert covered.type == "element_not_actionable"


@pytest.mark.more
async def test_click_whose_work_takes_long_is_done_once(act, site):
    await act("browser_navigate", url=site.url("/"))
    await act(
        "browser_evaluate",
        script="""document.body.innerHTML = '<button>Order</button>';
        document.querySelector('button').onclick = () => {
          document.title = document.title === 'once' ? 'twice' : 'once';
          for (const end = Date.now() + 4000; Date.now() < end;);
        }""",
    )
    await act("browser_click", selector="button")
    assert (await act("browser_evaluate", script="document.title")).data["value"] == "once"


CLICKED = "onclick=\"document.title = 'clicked'\""
WITHOUT_BOX = {
    "a button": f"<p>Before <button {CLICKED} {{style}}><span>Send</span></button>",
    "a button of text": f"<p>Before <button {CLICKED} {{style}}>Send</button> after",
    "a link around a card": f"<a href=#there {CLICKED} {{style}}><div style='height:60px'><h2>Send</h2></div></a>",
    "what a script listens to": f"<div {CLICKED} {{style}} role=button tabindex=0><b>Send</b></div>",
    "nested": f"<button {CLICKED} {{style}}><span {{style}}><i {{style}}>Send</i></span></button>",
    "below the window": f"<p style='height:2000px'>.<button {CLICKED} {{style}}><span>Send</span></button>",
}


@pytest.mark.more
async def test_element_without_a_box_is_clicked_by_what_it_shows(act, show, value, ref_of, subtests):
    for html in WITHOUT_BOX.values():
        with subtests.test(html=html):
            await show(html.format(style="style='display: contents' id=it"))
            reference = await ref_of('(?:button|link) "Send"')
            await act("browser_hover", selector=reference)
            for selector in (reference, "#it >> nth=0"):
                await value("document.title = '', scrollTo(0, 0), 1")
                done = await act("browser_click", selector=selector)
                assert '"Send"' in done.data["element"]
                assert await value("document.title") == "clicked"


@pytest.mark.more
async def test_element_without_a_box_is_not_clicked_where_it_is_covered_or_disabled(fails, show, value):
    button = f"<button {CLICKED} style='display:contents' {{}}><span>Send</span></button>"
    await show(button.format("") + "<div style='position:fixed;inset:0;background:#fff'>Wait</div>")
    error = await fails("browser_click", selector="button", timeoutMs=1000)
    assert (error.type, 'div "Wait" covers it' in str(error)) == ("element_not_actionable", True)
    await show(button.format("disabled"))
    error = await fails("browser_click", selector="button", timeoutMs=1000)
    assert (error.type, "it is disabled" in str(error)) == ("element_not_actionable", True)
    await show(f"<div style='visibility:hidden'>{button.format('')}</div>")
    error = await fails("browser_click", selector="button", timeoutMs=1000)
    assert error.type == "element_not_actionable"
    assert await value("document.title") == ""
