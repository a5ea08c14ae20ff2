"""“Type iPhone 16 into the search box and press search” beside a shop, with approvals."""

import pytest
from playwright.async_api import expect

from tests.extension.panel.conftest import LIMIT_MS, SENTENCE, searching

SENTENCES = {
    "en": SENTENCE,
    "zh": "在搜索框中输入 iPhone 16 并点击搜索",
}
WILL_DO = {
    "en": ("Fill “iPhone 16” into input:Search", "Click button:Search"),
    "zh": ("将“iPhone 16”填入 输入框:搜索", "点击 按钮:搜索"),
}
ELEMENTS = {"en": ("input:Search", "button:Search"), "zh": ("输入框:搜索", "按钮:搜索")}
FILLED = {"en": "Filled: Search", "zh": "已填充: 搜索"}


@pytest.mark.spec("C4")
@pytest.mark.parametrize("tool_calls", ["native", "prompted"])
@pytest.mark.parametrize("locale", ["en", "zh"])
async def test_person_approves_a_search_in_the_page_beside_the_panel(beside, locale, tool_calls):
    at = await beside(locale, model={"tools": tool_calls})
    at.server.provider.script = searching(*ELEMENTS[locale], prompted=tool_calls == "prompted")
    await at.say(SENTENCES[locale])
    for words in WILL_DO[locale]:
        await expect(at.call().get_by_text(words)).to_be_visible(timeout=LIMIT_MS)
    await expect(at.page.get_by_role("status")).to_be_empty()
    await at.decide()
    await at.shows("Done after 1 call.")
    await expect(at.page.get_by_role("status")).to_have_text("Results for iPhone 16")
    assert FILLED[locale] in at.server.provider.sent
