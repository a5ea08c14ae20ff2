"""Snapshots of long pages: what is seen comes first, and all of it can be reached."""

import re

import pytest

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


async def test_form_whose_fields_hide_its_own_properties_is_read(act, site):
    """A field called `title` takes the place of the form's `title`."""
    await act("browser_navigate", url=site.url("/clobbered"))
    assert 'textbox "Title"' in (await act("browser_snapshot")).blocks()[0].text
