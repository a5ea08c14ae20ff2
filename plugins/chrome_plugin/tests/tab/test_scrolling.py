"""Scrolling areas of a page, also where rows are made as one goes."""

import pytest

SHARES_PAGE = True

pytestmark = pytest.mark.spec("B2")


async def test_area_is_scrolled_by_pixels_and_to_its_ends_and_says_what_is_seen(act, site, text):
    await act("browser_navigate", url=site.url("/grid"))
    down = await act("browser_scroll", selector="#grid", amount=3000)
    assert (down.data["area"], down.data["scrollTop"], down.data["first"]) == ("div#grid", 3000, "Name of 100")
    end = await act("browser_scroll", selector="#end", direction="to_bottom")
    assert (end.data["area"], end.data["last"]) == ("div#log", "Log Last entry")
    assert "at its end" in text(await act("browser_scroll", selector="#end", direction="to_bottom"))
    # the page itself has no more: it is its largest area that a person would scroll
    assert (await act("browser_scroll", direction="to_top")).data["area"] == "div#grid"


@pytest.mark.more
@pytest.mark.parametrize("wanted", [{"to": "[aria-rowindex='15432']"}, {"text": "name of 40"}], ids=["number", "text"])
async def test_row_that_is_not_made_yet_is_scrolled_to(act, site, wanted, text):
    await act("browser_navigate", url=site.url("/grid"))
    reached = await act("browser_scroll", **wanted)
    assert reached.data["found"] is True
    assert "is in view" in text(reached)
    row = wanted.get("to", "[aria-rowindex='40']")
    seen = (
        f"""(e => e.getBoundingClientRect().top >= grid.getBoundingClientRect().top)(document.querySelector({row!r}))"""
    )
    assert (await act("browser_evaluate", script=seen)).data["value"] is True


@pytest.mark.more
async def test_what_is_nowhere_or_too_far_is_said(act, fails, site):
    await act("browser_navigate", url=site.url("/grid"))
    nowhere = await fails("browser_scroll", selector="#log", text="no such entry")
    assert (nowhere.type, nowhere.retryable, nowhere.context["area"]) == ("element_not_found", False, "div#log")
    far = await fails("browser_scroll", selector="#grid", text="name of 19990", timeoutMs=1600)
    assert (far.type, far.retryable) == ("element_not_found", True)
    assert "call again" in far.message
    assert (await fails("browser_scroll", to="#log", text="x")).type == "invalid_arguments"
    assert (await fails("browser_scroll", to="title")).type == "element_not_actionable"
    assert (await fails("browser_scroll", to="text=Nobody")).type == "element_not_found"
    assert (await fails("browser_scroll", selector="#nowhere", timeoutMs=200)).type == "element_not_found"


@pytest.mark.more
async def test_row_is_found_though_rows_are_drawn_long_after_the_scroll(act, site, subtests):
    for area, wanted in [("#grid", "Row 80."), ("#grid", "Row 7."), ("#fixed", "Line 70."), ("#endless", "Entry 35.")]:
        with subtests.test(area=area, wanted=wanted):
            await act("browser_navigate", url=site.url("/late-grid"))
            assert (await act("browser_scroll", selector=area, text=wanted)).data["found"] is True


@pytest.mark.more
async def test_end_to_end_is_said_only_where_all_was_seen(act, fails, site):
    await act("browser_navigate", url=site.url("/late-grid"))
    through = await fails("browser_scroll", selector="#grid", text="Row 100.")
    assert ("from end to end" in through.message, through.retryable) == (True, False)
    empty = await fails("browser_scroll", selector="#never", text="Row 100.")
    assert ("stayed empty" in empty.message, empty.retryable) == (True, True)
