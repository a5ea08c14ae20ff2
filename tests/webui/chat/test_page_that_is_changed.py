"""An agent that reads and changes the page in which a person talks with it."""

import json

import pytest
from playwright.async_api import expect

SUMMARY = ("ui_page_get_content", {})
THEME = ("ui_page_dom_patch", {"operations": [{"op": "injectCss", "css": ":root { --ac-accent: rgb(120, 30, 160); }"}]})
BANNER = (
    "ui_page_dom_patch",
    {
        "operations": [
            {
                "op": "insertAdjacentHtml",
                "selector": "body",
                "position": "afterbegin",
                "html": "<div id='banner'>Maintenance at noon</div>",
            }
        ]
    },
)
READ = ("ui_page_get_content", {"selector": "#banner", "format": "text"})
ACCENT = "getComputedStyle(document.documentElement).getPropertyValue('--ac-accent').trim()"


@pytest.mark.spec("P1", "C1")
async def test_chosen_agent_reads_and_changes_the_page_until_a_reload(open_chat):
    """Choose an agent; it reads a summary, changes the theme, adds a banner and reads it; each call is approved."""
    agents = {"default": {}, "painter": {"instructions": "You paint the page."}}
    chat = await open_chat("ui_page", config={"agents": agents})
    page, steps = chat.page, (SUMMARY, THEME, BANNER, READ)
    usual = await page.evaluate(ACCENT)
    for number, (name, arguments) in enumerate(steps):
        chat.provider.say("", (f"call-{number}", name, json.dumps(arguments)))
    chat.provider.say("The page is purple and has a banner.")
    await page.get_by_role("button", name="Agent").click()
    await page.get_by_role("menuitemradio", name="painter").click()
    await chat.say("paint the page")
    for number, (name, _) in enumerate(steps):
        await expect(page.locator("ac-call-card")).to_have_count(number + 1)
        await expect(chat.card.get_by_role("button", name=name)).to_contain_text("waits for you")
        await chat.decide(approved=True)
    await expect(chat.shown.get_by_text("The page is purple")).to_be_visible()
    said = chat.provider.requests[-1]["messages"]
    results = [message["content"] for message in said if message["role"] == "tool"]
    summary = json.loads(results[0][results[0].index("{") : results[0].rindex("}") + 1])
    assert (summary["agent"], summary["view"]) == ("painter", "chats")
    assert "Maintenance at noon" in results[-1]
    assert await page.evaluate(ACCENT) == "rgb(120, 30, 160)"
    await expect(page.locator("#banner")).to_be_visible()
    await page.reload()
    await page.locator("ac-view-chats ac-chat-composer").wait_for()
    await expect(page.locator("#banner")).to_have_count(0)
    assert await page.evaluate(ACCENT) == usual
