"""Snapshots of long pages: what is seen comes first, and all of it can be reached."""

import re

import pytest

SHARES_PAGE = True

pytestmark = pytest.mark.spec("B7")


async def test_long_page_is_read_to_its_end_by_offset(act, site):
    await act("browser_navigate", url=site.url("/long"))
    seen, offset = [], None
    while True:
        result = await act("browser_snapshot", **({} if offset is None else {"offset": offset}))
        text = result.blocks()[0].text
        assert len(text.encode()) < 19_000
        seen += re.findall(r"Paragraph (\d+)", text)
        if (following := re.search(r"offset=(\d+) shows what comes next", text)) is None:
            break
        offset = int(following[1])
    assert seen == [str(number) for number in range(1000)]
    assert not result.truncated or result.data["leftOut"]


@pytest.mark.more
async def test_what_is_in_view_is_shown_after_the_top(act, site):
    await act("browser_navigate", url=site.url("/long"))
    await act("browser_evaluate", script="p700.scrollIntoView(), 0")
    text = (await act("browser_snapshot")).blocks()[0].text
    assert "Paragraph 0 " in text
    assert "Paragraph 400 " not in text
    assert "Paragraph 700 " in text
    left_out = re.search(r"\[lines (\d+) to (\d+) are left out; offset=(\d+) shows them\]", text)
    assert left_out[1] == left_out[3]
    assert f"Paragraph {left_out[1]} " in (await act("browser_snapshot", offset=int(left_out[1]))).blocks()[0].text


@pytest.mark.more
async def test_parts_of_a_drawing_are_read_and_clicked(act, site):
    await act("browser_navigate", url=site.url("/drawing"))
    text = (await act("browser_snapshot")).blocks()[0].text
    for line in ('- button "Close" [ref=', '- img "Sales": January\n', "]: Start here\n", '- clickable "Bonn" [ref='):
        assert line in f"{text}\n"
    assert "red" not in text
    assert "in defs" not in text
    await act("browser_click", selector=re.search(r"\[ref=(\w+)\]: Start here", text)[1])
    assert (await act("browser_evaluate", script="document.title")).data["value"] == "node"


@pytest.mark.more
async def test_page_that_shows_nothing_says_so_at_once(act, site, text):
    result = await act("browser_navigate", url=site.url("/deaf"), snapshot=True)
    assert "The page shows nothing;" in text(result)


@pytest.mark.more
async def test_form_whose_fields_hide_its_own_properties_is_read_and_filled(act, site, site_module):
    """A field called `title` takes the place of the form's `title`."""
    await act("browser_navigate", url=site.url("/clobbered"))
    text = (await act("browser_snapshot")).blocks()[0].text
    refs = dict(re.findall(r'textbox "(\w+)" \[ref=(\w+)\]', text))
    assert sorted(refs) == sorted(site_module.HIDING)
    await act("browser_click", selector=re.search(r'button "Go" \[ref=(\w+)\]', text)[1])
    await act("browser_type", selector=refs["parentElement"], text="typed")
    await act("browser_fill_form", fields=[{"selector": "[name=children]", "value": "2"}])
    assert (await act("browser_scroll", selector="form", text="Below")).data["found"] is True
    assert "Below" in (await act("browser_get_dom")).data["dom"]
    script = "[document.title, ...[...document.querySelectorAll('input')].map(e => e.value).filter(Boolean)]"
    assert (await act("browser_evaluate", script=script)).data["value"] == ["clicked", "2", "typed"]
