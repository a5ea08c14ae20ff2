"""What calls do in the page stands in words in the chat, and as JSON only where it is unfolded."""

import json

from playwright.async_api import expect

from tests.extension.panel.conftest import LIMIT_MS, SENTENCE, searching

SAID = ["Fill “iPhone 16” into input:Search(placeholder:Search)", "Click button:Search"]


async def test_call_in_the_page_beside_is_told_in_words_before_and_after_it_ran(beside):
    at = await beside()
    at.server.provider.script = searching()
    await at.say(SENTENCE)
    await expect(at.call().get_by_role("listitem")).to_have_text(SAID)
    card = at.panel.locator("ac-call-card")
    await expect(card).not_to_contain_text("elementId", use_inner_text=True)
    await at.decide()
    await at.shows("Done after 1 call.")
    head = card.get_by_role("button", name="page_action")
    for _ in range(2):
        await expect(head.locator(".brief > span")).to_have_text(SAID, timeout=LIMIT_MS)
        await head.click()
        await expect(card.locator(".steps li")).to_have_text(SAID)
        await expect(card).not_to_contain_text("elementId", use_inner_text=True)
        await at.panel.reload()
    await head.click()
    await card.get_by_text("As JSON").click()
    await expect(card.locator("ac-json-tree").first).to_contain_text("actions")


async def test_call_in_a_shared_tab_is_told_in_the_words_of_its_tool(beside):
    """In the panel and in agentcore's page, where the person is asked and when it is done."""
    at = await beside(modules=["user_tabs"])
    actions = [{"action": "fill", "target": {"selector": "input"}, "params": {"value": "iPhone 16"}}]
    said = "Fill input with “iPhone 16”"
    at.server.provider.say("", ("call_1", "page_action", json.dumps({"actions": actions})))
    at.server.provider.say("It is filled.")
    await at.panel.get_by_role("button", name="Do not send this page").click()
    await at.panel.get_by_role("button", name="Share", exact=True).click()
    await at.panel.get_by_role("menuitem", name="Share this tab with this chat").click()
    await expect(at.panel.get_by_text("This tab is shared with this chat.")).to_be_visible(timeout=LIMIT_MS)
    await at.say("Fill it")
    asked = at.panel.locator("ac-approval-call")
    await expect(asked.get_by_role("listitem")).to_have_text([said], timeout=LIMIT_MS)
    await expect(asked).not_to_contain_text("params", use_inner_text=True)
    approve = asked.get_by_role("button", name="Approve: page_action")
    await expect(approve).to_have_attribute("aria-disabled", "false", timeout=LIMIT_MS)
    await approve.click()
    await at.shows("It is filled.")
    await expect(at.panel.locator("ac-call-card .brief")).to_have_text(said)
    await expect(at.page.get_by_role("textbox")).to_have_value("iPhone 16")
