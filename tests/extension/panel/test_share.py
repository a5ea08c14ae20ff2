"""A tab is shared with the chat in view, shown as shared, and taken back, from the panel."""

from playwright.async_api import expect

from tests.extension.panel.conftest import LIMIT_MS


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
    assert "user_tab" not in [each["type"] for each in answer["resources"]]
