"""Clicks on elements that something lies above."""

import pytest

pytestmark = pytest.mark.spec("B2")


async def test_control_under_another_part_of_its_component_is_clicked_where_a_person_would(act, site):
    """The field of a multiple choice lies under its tags: a click there opens the list."""
    await act("browser_navigate", url=site.url("/covered-by-its-own"))
    await act("browser_click", selector="input")
    title = (await act("browser_evaluate", script="document.title")).data["value"]
    assert title == "opened"


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
