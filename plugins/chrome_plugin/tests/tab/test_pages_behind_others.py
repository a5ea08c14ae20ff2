"""A page behind another one, such as its popup, is used like one in front; a browser paints only that."""

import asyncio

import pytest

pytestmark = pytest.mark.spec("B2")
STARTS_HOSTS = True  # the headless shell paints all pages

PAGE = """
<a href="/second" target="_blank">Open</a>
<div id="list" style="height: 160px; overflow: auto"><div style="position: relative; height: 9600px"></div></div>
"""
FILL = """
const list = document.getElementById('list');
const fill = () => {
  const first = Math.floor(list.scrollTop / 24);
  list.firstElementChild.replaceChildren(...Array.from({length: 9}, (_, number) => {
    const row = document.createElement('p');
    row.textContent = `Row ${first + number}`;
    row.style.cssText = `position: absolute; margin: 0; top: ${(first + number) * 24}px`;
    return row;
  }));
};
list.addEventListener('scroll', fill);
fill();
"""


@pytest.mark.more
async def test_page_behind_its_popup_is_used_like_one_in_front(start_host, site):
    host = await start_host()

    async def act(tool, **arguments):
        return (await host.outcome(tool, arguments, session_id="s1")).unwrap()

    await act("browser_navigate", url=site.url("/"))
    await act("browser_evaluate", script=f"document.body.innerHTML = {PAGE!r}; {FILL}")
    await act("browser_click", selector="text=Open")
    while len((await act("browser_tabs", action="list")).data["pages"]) < 2:
        await asyncio.sleep(0.05)
    # row by row of a list that is made while it scrolls: ten times as many frames as there are behind another page
    assert (await act("browser_scroll", selector="#list", text="Row 300")).data
