"""A tab is shared from the panel, with the chat in view or another one, shown as shared, and taken back."""

import asyncio
from collections.abc import Callable

from playwright.async_api import expect

from tests.extension.panel.conftest import LIMIT_MS
from tests.extension.serving import LIMIT_S


async def test_tab_is_shared_with_the_chat_in_view_and_taken_back_with_a_click(beside):
    at = await beside(modules=["user_tabs"])
    at.server.provider.say("An answer.")
    await at.panel.get_by_role("button", name="Share", exact=True).click()
    await at.panel.get_by_role("menuitem", name="Share this tab with this chat").click()
    shared = at.panel.get_by_role("list", name="Shared tabs")
    await expect(shared.get_by_text("This tab is shared with this chat.")).to_be_visible(timeout=LIMIT_MS)
    # the server's own tools act there
    await at.say("Hello")
    await at.shows("An answer.")
    tools = [tool["function"] for tool in at.server.provider.requests[-1]["tools"]]
    assert [tool for tool in tools if tool["name"] == "page_action" and "resourceId" in str(tool["parameters"])]
    await shared.get_by_role("button", name="End sharing Corner shop").click()
    await expect(shared).to_have_count(0, timeout=LIMIT_MS)
    status, answer = await at.server.ask("GET", "/api/resources")
    assert status == 200
    assert "user_tab" not in [each["resourceType"] for each in answer["resources"]]


FILL = '{"actions": [{"action": "fill", "target": {"selector": "input"}, "params": {"value": "iPhone 16"}}]}'


async def test_chat_of_somebody_else_acts_in_the_tab_once_the_person_approves_in_the_panel(beside):
    """A chat of a program, as those of the page and of the terminal are, is chosen by its title."""
    at = await beside(modules=["user_tabs"])
    provider, ask = at.server.provider, at.server.ask
    provider.say("Hello.")
    provider.say("", ("call_1", "page_action", FILL))
    provider.say("It is filled.")
    session_id = (await ask("POST", "/api/sessions", {}))[1]["sessionId"]
    messages = f"/api/sessions/{session_id}/messages"
    assert (await ask("POST", messages, {"text": "Buy a telephone"}))[0] == 202
    await _until(lambda: len(provider.requests) == 1)
    await at.panel.get_by_role("button", name="Share", exact=True).click()
    await at.panel.get_by_role("menuitem", name="Buy a telephone").click()
    await expect(at.panel.get_by_text("This tab is shared with “Buy a telephone”.")).to_be_visible(timeout=LIMIT_MS)
    assert (await ask("POST", messages, {"text": "Fill the search box"}))[0] == 202
    await at.panel.get_by_text("1 call of another chat waits for you").click(timeout=LIMIT_MS)
    card = at.panel.locator("ac-approval-call")
    await expect(card.get_by_text("Fill input with “iPhone 16”")).to_be_visible(timeout=LIMIT_MS)
    approve = card.get_by_role("button", name="Approve: page_action")
    # read to its end
    await at.panel.locator("ac-panel-tray .list").evaluate("(list) => list.scrollTo(0, list.scrollHeight)")
    await expect(approve).to_have_attribute("aria-disabled", "false", timeout=LIMIT_MS)
    await approve.click()
    await expect(at.page.get_by_role("textbox")).to_have_value("iPhone 16", timeout=LIMIT_MS)
    await _until(lambda: len(provider.requests) == 3)
    assert "Filled: Search" in provider.sent


async def _until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(LIMIT_S):
        while not is_so():
            await asyncio.sleep(0.02)


async def share_with_this_chat(at):
    """Share the tab beside the panel; what the panel says of it."""
    await at.panel.get_by_role("button", name="Share", exact=True).click()
    await at.panel.get_by_role("menuitem", name="Share this tab with this chat").click()
    shared = at.panel.get_by_role("list", name="Shared tabs")
    await expect(shared.get_by_text(SHARED)).to_be_visible(timeout=LIMIT_MS)
    return shared


SHARED = "This tab is shared with this chat."


async def test_tab_that_went_to_another_site_goes_on_once_that_is_shared_too(beside, site):
    at = await beside(modules=["user_tabs"])
    shared = await share_with_this_chat(at)
    await at.page.goto(site.url("/shop", "other.localhost"))
    asks = f"has gone to {site.url('', 'other.localhost')}. Share it there, too?"
    await expect(shared.get_by_text(asks)).to_be_visible(timeout=LIMIT_MS)
    await shared.get_by_role("button", name="Share", exact=True).click()
    await expect(shared.get_by_text(SHARED)).to_be_visible(timeout=LIMIT_MS)
    _, state = await at.server.ask("GET", "/api/modules/user_tabs/state")
    assert site.url("/shop", "other.localhost") in str(state["tabs"])


async def test_site_that_is_taken_back_in_the_browser_pauses_the_tab_and_the_panel_says_so(beside, site):
    at = await beside(modules=["user_tabs"])
    shared = await share_with_this_chat(at)
    await at.extension.take_sites_back()
    says = f"agentcore may not use {site.url('')} any more. Share it again?"
    await expect(shared.get_by_text(says)).to_be_visible(timeout=LIMIT_MS)
    await expect(shared.get_by_role("button", name="Share", exact=True)).to_be_visible()
    await shared.get_by_role("button", name="End sharing Corner shop").click()
    await expect(shared).to_have_count(0, timeout=LIMIT_MS)
