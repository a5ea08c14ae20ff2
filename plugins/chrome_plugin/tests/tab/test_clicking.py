"""Clicks on elements that something lies above."""

import pytest

pytestmark = pytest.mark.spec("B2")


async def test_control_under_another_part_of_its_component_is_clicked_where_a_person_would(act, site):
    """The field of a multiple choice lies under its tags: a click there opens the list."""
    await act("browser_navigate", url=site.url("/covered-by-its-own"))
    await act("browser_click", selector="input")
    title = (await act("browser_evaluate", script="document.title")).data["value"]
    assert title == "opened"
