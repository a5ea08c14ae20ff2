"""The emergency stop is shown in the panel, and ended there by who may approve in it."""

import asyncio

import pytest
from playwright.async_api import expect

from tests.extension.panel.conftest import LIMIT_MS
from tests.extension.panel.test_share import share_with_this_chat


async def test_person_who_may_approve_in_the_panel_lets_calls_be_taken_again(beside):
    """A panel that is opened later says it as well."""
    at = await beside()
    banner = at.panel.get_by_role("alert").filter(has_text="Everything is stopped.")
    assert (await at.server.ask("POST", "/api/stop", {}))[0] == 200
    await expect(banner).to_be_visible(timeout=LIMIT_MS)
    await at.panel.reload()
    await banner.get_by_role("button", name="Resume").click()
    await expect(banner).to_have_count(0, timeout=LIMIT_MS)
    assert (await at.server.ask("GET", "/api/stop"))[1] == {"stopped": False}


async def test_stop_ends_what_is_shared_and_the_panel_says_that_it_was_not_the_tab(beside):
    at = await beside(modules=["user_tabs"])
    await share_with_this_chat(at)
    assert (await at.server.ask("POST", "/api/stop", {}))[0] == 200
    said = at.panel.locator("ac-toasts").get_by_text("It was ended in agentcore.")
    await expect(said).to_be_visible(timeout=LIMIT_MS)


async def test_stop_that_is_told_while_the_panel_asks_is_not_undone_by_the_older_answer(beside):
    at = await beside()
    asked, told = asyncio.Event(), asyncio.Event()

    async def answer_late(route):
        response = await route.fetch()
        asked.set()
        await told.wait()
        await route.fulfill(response=response)

    address = at.panel.url
    await at.panel.goto("about:blank")  # what this document asks is none of it
    await at.panel.route("**/api/stop", answer_late, times=1)
    await at.panel.goto(address)
    await asked.wait()
    assert (await at.server.ask("POST", "/api/stop", {}))[0] == 200
    banner = at.panel.get_by_role("alert").filter(has_text="Everything is stopped.")
    await expect(banner).to_be_visible(timeout=LIMIT_MS)
    async with at.panel.expect_event("requestfinished", lambda request: request.url.endswith("/api/stop")):
        told.set()
    await at.panel.evaluate("() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))")
    await expect(banner).to_be_visible()


@pytest.mark.parametrize("locale", ["en", "zh"])
async def test_panel_that_may_not_approve_says_where_calls_are_let_be_taken_again(beside, locale):
    at = await beside(locale, scopes=("chat",))
    stopped, opens = {
        "en": ("resume in the approval view", "Open agentcore’s page"),
        "zh": ("请在审批视图中恢复", "打开 agentcore 页面"),
    }[locale]
    assert (await at.server.ask("POST", "/api/stop", {}))[0] == 200
    banner = at.panel.get_by_role("alert").filter(has_text=stopped)
    await expect(banner).to_be_visible(timeout=LIMIT_MS)
    await expect(banner.get_by_role("button")).to_have_count(0)
    await expect(banner.get_by_role("link", name=opens)).to_have_attribute("href", f"{at.server.address}/#/")
