"""The view of a real MCP server's tool, mounted and shown in a chat: one of MCP Apps' own examples."""

import re
import shutil
from pathlib import Path

import pytest
from playwright.async_api import expect

BIN = Path(__file__).parents[3] / "node_modules" / ".bin" / "mcp-server-basic-vanillajs"

pytestmark = [
    pytest.mark.more,
    pytest.mark.skipif(shutil.which("node") is None or not BIN.exists(), reason="no packages of npm here"),
]
BLOCK = {"command": str(BIN), "args": ["--stdio"]}


async def test_example_of_mcp_apps_is_shown_and_calls_its_server(open_chat, tmp_path):
    chat = await open_chat("mcp_time", config={"mcpServers": {"time": BLOCK}, "approvals": {"mode": "allow"}})
    (tool,) = [each for each in chat.ui.host.registry.tools.values() if each.definition.view is not None]
    assert (tool.definition.name, tool.definition.in_views) == ("time_get-time", "get-time")
    chat.provider.say("", ("a", "time_get-time", "{}"))
    chat.provider.say("That late.")
    await chat.say("what time is it?")
    view = chat.card.frame_locator("ac-tool-view iframe").frame_locator("iframe")
    time = view.locator("#server-time")
    await expect(time).to_have_text(re.compile(r"^\d{4}-\d\d-\d\dT"))
    before = await time.inner_text()
    await view.get_by_role("button", name="Get Server Time").click()
    await expect(time).not_to_have_text(before)
    await view.get_by_role("button", name="Open Link").click()
    await expect(chat.card.get_by_role("group")).to_contain_text("https://modelcontextprotocol.io/")
    await chat.card.get_by_role("button", name="No").press("Enter")
    chat.provider.say("I see.")
    await view.get_by_role("button", name="Send Message").click()
    send = chat.card.get_by_role("group").get_by_role("button", name="Send")
    await expect(send).to_be_enabled()
    await send.press("Enter")
    await expect(chat.page.locator("ac-user-message").last).to_contain_text("This is message text.")
    await expect(chat.shown.get_by_text("I see.")).to_be_visible()
