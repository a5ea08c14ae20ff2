"""axe-core finds nothing serious on any view of the shell, in both themes, on a desk and on a phone."""

import pytest
from playwright.async_api import expect

from agentcore.api import Module, tool

PHONE = {"width": 390, "height": 844}


class Clock(Module):
    """The time."""

    @tool(read_only=True)
    async def clock_now(self) -> str:
        """Return the current time."""
        return "now"


class Second(Module):
    """The time again."""

    @tool(read_only=True)
    async def clock_now(self) -> str:
        """Return the current time."""
        return "now"


class Broken(Module):
    """Never starts."""

    def init(self, runtime):
        raise RuntimeError("no key for the server: set config.broken.api_key in app.json")


VIEWS = {
    "#/": "New chat",
    "#/modules": "Modules",
    "#/modules/clock": "Clock",
    "#/modules/second": "Second",
    "#/modules/broken": "Broken",
    "#/hosts": "Hosts",
}


async def test_views_are_accessible(start_webui, axe_problems):
    ui = await start_webui([Clock, Second, Broken], config={"modules": ["ghost"]})
    await ui.server.running.call("clock_now")
    page = await ui.page()
    for path, title in VIEWS.items():
        await page.goto(f"{ui.address}/{path}")
        await expect(page.get_by_role("heading", name=title, level=1)).to_be_visible()
        assert await axe_problems(page) == [], path


@pytest.mark.more
async def test_log_in_is_accessible(start_webui, axe_problems):
    ui = await start_webui()
    ui.allowed_errors.append("401")
    page = await ui.page("#code=wrong", is_logged_in=False)
    await expect(page.get_by_role("alert")).not_to_be_empty()
    assert await axe_problems(page) == []


@pytest.mark.more
async def test_dialog_messages_and_banner_are_accessible(start_webui, axe_problems):
    ui = await start_webui([Clock])
    page = await ui.page("#/nowhere")
    await page.get_by_role("button", name="Stop everything").click()
    await expect(page.get_by_role("dialog")).to_be_visible()
    assert await axe_problems(page) == []
    await page.locator("ac-confirm").get_by_role("button", name="Stop everything").click()
    await expect(page.get_by_role("alert")).to_contain_text("Everything is stopped")
    await page.evaluate(
        "import('/static/ui/toasts.js').then(({toastError}) => toastError('It failed', new Error('why')))"
    )
    await expect(page.get_by_text("It failed")).to_be_visible()
    assert await axe_problems(page) == []


@pytest.mark.more
async def test_phone_and_its_drawer_are_accessible(start_webui, axe_problems):
    ui = await start_webui([Clock, Broken])
    page = await ui.page("#/modules", viewport=PHONE, locale="zh-CN")
    await expect(page.get_by_role("heading", name="模块", level=1)).to_be_visible()
    assert await axe_problems(page) == []
    await page.get_by_role("button", name="菜单").click()
    await expect(page.get_by_role("dialog", name="菜单")).to_be_visible()
    assert await axe_problems(page) == []
