"""Pages that the browser keeps when they are left, and shows again as they were: nothing of before goes on there."""

import asyncio

import pytest
import pytest_asyncio
from playwright.async_api import expect

from tests.extension.serving import LIMIT_S
from tests.extension.sharing import fill, share_with_new_session

pytestmark = pytest.mark.spec("C4")

SHOP = """<!doctype html><title>Shop</title>
<label>Search <input id="search"></label> <button id="moving">0</button>
<script>
addEventListener('pageshow', ({persisted}) => { if (persisted) document.title = 'Shop as it was left'; });
const moving = document.querySelector('#moving');
moving.onclick = ({target}) => { target.textContent += 'x'; };
let left = 100, isMoving = true;
(function move() {
  if (isMoving) moving.style.left = `${100 + (left += 7) % 200}px`;
  requestAnimationFrame(move);
})();
</script>
<style>#moving { position: absolute; top: 100px; }</style>"""
MOVING = {"actions": [{"action": "click", "target": {"selector": "#moving"}}]}
BACK = "setTimeout(() => history.back())"
GO = "([tabId, url]) => chrome.tabs.update(tabId, {url}).then(() => null)"
TITLE = "(tabId) => chrome.tabs.get(tabId).then(({title, status}) => status === 'complete' ? title : '')"
REST = "isMoving = false"


@pytest_asyncio.fixture(loop_scope="session")
async def kept(start_server, start_extension, site):
    """A shared page in a browser that keeps pages which are left."""
    site.show("/", SHOP)
    site.show("/second", "<title>Second</title><input id=search>")
    extension = await start_extension(ignored_flags=["--disable-back-forward-cache"])
    server = await start_server(["user_tabs"], approvals={"mode": "allow"})
    await extension.pair(server)
    page = await extension.context.new_page()
    await page.goto(site.url())
    return await share_with_new_session(extension, server, page)


async def go(kept, url):
    """Go to a page, as the person does in the address bar."""
    await kept.extension.run(GO, [kept.tab_id, url])


async def until_shown(kept, title):
    async with asyncio.timeout(LIMIT_S):
        while await kept.extension.run(TITLE, kept.tab_id) != title:
            await asyncio.sleep(0.02)


async def test_page_that_was_kept_is_used_as_before(kept, site):
    assert (await kept.call(fill("before")))["ok"]
    await go(kept, site.url("/second"))
    await until_shown(kept, "Second")
    assert (await kept.call(fill("on the second page")))["ok"]
    await kept.page.evaluate(BACK)
    await until_shown(kept, "Shop as it was left")
    read = await kept.call({"actions": [{"action": "read", "target": {"selector": "#search"}}]})
    assert "before" in str(read["data"])
    assert (await kept.call(fill("after")))["ok"]
    assert (await kept.shares())[0]["state"] == "ready"


async def test_action_that_a_page_was_left_in_does_not_go_on_when_it_is_shown_again(kept, site):
    """A button that a script moves is waited for; the page is left meanwhile, and back it stands still."""
    call = asyncio.create_task(kept.call(MOVING))
    await go(kept, site.url("/second"))
    answer = await call
    assert not (answer["ok"] and answer["data"]["success"]), answer
    await until_shown(kept, "Second")
    await kept.page.evaluate(BACK)
    await until_shown(kept, "Shop as it was left")
    await kept.page.evaluate(REST)
    assert (await kept.call(fill("goes on")))["ok"]
    await expect(kept.page.locator("#moving")).to_have_text("0")
