"""The page begins in each engine: log-in, sections, keyboard, theme, language."""

import pytest

pytestmark = pytest.mark.spec("W1")


async def test_code_logs_in_and_sections_are_reached_by_keyboard(visit):
    shown = await visit()
    page = shown.page
    await page.role("heading", "New chat").seen()
    assert (await page.role("button", "Stop everything").box())["right"] < (await page.css(".side").box())["right"] - 8
    assert "code" not in await page.evaluate("() => location.href")
    await page.role("link", "Modules", exact=True).focus()
    await page.press("Enter")
    await page.role("heading", "Modules").seen()
    await page.role("link", "Modules", exact=True).has("aria-current", "page")
    await page.reload()
    await page.role("heading", "Modules").seen()


async def test_code_is_pasted_and_log_out_leads_back_to_the_log_in(visit):
    shown = await visit(is_logged_in=False)
    shown.ui.allowed_errors.append("401")
    page = shown.page
    await page.role("heading", "Log in to agentcore").seen()
    await page.label("paste the code").fill(shown.ui.host.store.page_sessions.create_code())
    await page.press("Enter")
    await page.role("heading", "Connect a model").seen()
    await page.role("button", "Log out").click()
    await page.role("heading", "Log in to agentcore").seen()


async def test_theme_and_language_are_chosen_and_kept(visit):
    shown = await visit()
    page = shown.page
    html = page.css("ac-app")
    light = await html.style("color")
    await page.role("radio", "Dark theme").click()
    await page.until("(light) => getComputedStyle(document.querySelector('ac-app')).color !== light", light)
    await page.label("Language").choose("zh")
    await page.role("heading", "新对话").seen()
    await page.reload()
    await page.role("heading", "连接模型").seen()
    assert await html.style("color") != light
