"""The page that the documents build works as they stand."""

import re
from pathlib import Path

import pytest
from playwright.async_api import expect

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "page-of-a-module.md"
TITLED = re.compile(r'^```\w+ title="modules/([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)


@pytest.mark.spec("M7")
async def test_page_of_the_tutorial_counts_and_hears_of_counting_elsewhere(start_webui, axe_problems):
    files = {name.removesuffix(".py"): content for name, content in TITLED.findall(DOCUMENT.read_text())}
    ui = await start_webui(files=files)
    page = await ui.page("#/pages/tally")
    await expect(page.get_by_role("heading", name="Tally")).to_be_visible()
    await page.get_by_role("button", name="Count").click()
    await expect(page.get_by_role("main").locator("output")).to_have_text("1")
    await ui.server.running.call("tally_add", amount=41)
    await expect(page.get_by_role("main").locator("output")).to_have_text("42")
    assert await axe_problems(page) == []
