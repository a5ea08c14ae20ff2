"""The module's page in real Chromium, on a phone, in the dark, in Chinese."""

from typing import Any

import pytest
from playwright.async_api import async_playwright, expect

from agentcore.testing import ServerClient

pytestmark = [
    pytest.mark.spec("K6"),
    pytest.mark.more,
]

LONG = "A very long title of a page " * 8


async def test_page_tells_how_a_tab_is_shared_and_shows_long_titles_and_what_was_done(
    server: ServerClient, new_key: Any, connected: Any, chromium: str
) -> None:
    async with async_playwright() as playwright:
        started = await playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = await started.new_page(
            viewport={"width": 390, "height": 844}, color_scheme="dark", locale="zh-CN", reduced_motion="reduce"
        )
        page.set_default_timeout(60_000)
        code = server.running.host.store.page_sessions.create_code()
        await page.goto(f"{server.make_url('/')}#code={code}")
        await page.locator("ac-app nav").first.wait_for(state="attached")
        await page.evaluate("location.hash = '#/pages/user_tabs'")
        await expect(page.get_by_text("没有共享的标签页。")).to_be_visible()
        await expect(page.locator("user-tabs-about li")).to_have_count(3)
        async with connected(server, await new_key(server)) as browser:
            await browser.hello()
            resource_id = await browser.share(title=LONG)
            await browser.send(type="update", shareId="s1", state="paused")
            title = page.get_by_role("heading", name="A very long title")
            await expect(page.get_by_text("已暂停")).to_be_visible()
            box = await title.bounding_box()
            assert box is not None
            assert box["width"] > 150
            await browser.send(type="update", shareId="s1", state="ready")
            call = server.running.outcome("get_selected_text", {"timeoutMs": 100}, session_id="chat-1")
            await browser.send(type="ping")
            await browser.next("pong")
            assert (await call).error.type == "user_tab_timeout"
            await page.evaluate(f"location.hash = '#/pages/user_tabs/{resource_id}'")
            await expect(page.locator("user-tabs-view li")).to_contain_text("未及时应答")
        await started.close()
