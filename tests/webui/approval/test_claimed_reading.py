"""Tools that only read, says their server: the approval view offers to treat them so, and does nothing by itself."""

import sys
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.webui.approval.pressing import press
from tests.webui.approval.viewing import both

pytestmark = [pytest.mark.spec("P3"), pytest.mark.processes]

HINTING = Path("plugins/mcp_servers/tests/hinting_server.py").read_text(encoding="utf-8")
READS = {"read", "egress"}


async def start_ui(start_webui):
    block = {"command": sys.executable, "args": ["-c", HINTING]}
    return await start_webui(["mcp_example"], config={"mcpServers": {"Example": block}}, accepts_definitions=False)


def effects(ui):
    return {name: set(tool.definition.effects) for name, tool in ui.host.registry.tools.items()}


async def test_tools_are_treated_as_reading_that_the_user_chooses(start_webui):
    ui = await start_ui(start_webui)
    page = await both(ui)
    view = await page.context.new_page()
    await view.set_viewport_size({"width": 1100, "height": 1400})
    await view.goto(ui.server.approval_address)
    choices = view.get_by_role("group", name="Read-only, according to the server")
    every = choices.get_by_role("checkbox", name="Treat all 2 as reading")
    look = choices.get_by_role("checkbox", name="example_look")
    search = choices.get_by_role("checkbox", name="example_search")
    await every.check()
    await expect(look).to_be_checked()
    await look.press("Space")
    await expect(every).not_to_be_checked()
    assert await every.evaluate("box => box.indeterminate")
    await expect(search).to_be_checked()
    await press(view.get_by_role("button", name="Apply"))
    await expect(choices).to_have_count(0)
    assert (effects(ui)["example_search"], effects(ui)["example_look"]) == (READS, {"execute"})
