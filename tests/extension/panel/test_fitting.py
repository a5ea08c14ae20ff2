"""The panel fits into the width that it has beside a page, in both languages, whatever it shows."""

import pytest
from playwright.async_api import expect

from tests.extension.panel.conftest import LIMIT_MS, SENTENCE, searching
from tests.webui.fitting import misfits

WIDTHS = (320, 360, 420)
FIELDS = {"en": ("input:Search", "button:Search"), "zh": ("输入框:搜索", "按钮:搜索")}
SETTINGS = {"en": "Settings", "zh": "设置"}
STOPPED = {"en": "Everything is stopped.", "zh": "一切已停止。"}


async def fits(at):
    """Nothing is cut off, in any width."""
    for width in WIDTHS:
        await at.panel.set_viewport_size({"width": width, "height": 760})
        assert await misfits(at.panel) == [], width


@pytest.mark.parametrize("locale", ["en", "zh"])
async def test_nothing_is_cut_off_in_the_width_of_a_panel(beside, locale):
    at = await beside(locale, modules=["user_tabs"])
    await fits(at)
    at.server.provider.script = searching(*FIELDS[locale])
    await at.say(SENTENCE)
    await expect(at.call()).to_be_visible(timeout=LIMIT_MS)
    await fits(at)
    await at.decide()
    await at.shows("Done after 1 call.")
    await fits(at)
    await at.panel.locator("ac-call-card .head").click()
    await fits(at)
    await at.panel.get_by_role("button", name=SETTINGS[locale]).click()
    await fits(at)
    await at.panel.keyboard.press("Escape")
    await at.server.ask("POST", "/api/stop", {})
    await expect(at.panel.get_by_text(STOPPED[locale])).to_be_visible(timeout=LIMIT_MS)
    await fits(at)


async def test_model_mode_and_context_stand_on_one_line_beside_the_button(beside):
    """A long name of a model is shortened, and the mode is not."""
    at = await beside()
    at.server.provider.say("An answer.")
    await at.say("Hello")
    await at.shows("An answer.")
    composer = at.panel.locator("ac-chat-composer")
    parts = [
        at.panel.get_by_role("button", name="Model: test-model"),
        at.panel.get_by_role("button", name="Which calls wait for you: Ask always"),
        at.panel.locator("ac-chat-tokens button"),
        composer.get_by_role("button", name="Send"),
    ]
    await expect(parts[2]).to_be_visible(timeout=LIMIT_MS)
    for width in WIDTHS:
        await at.panel.set_viewport_size({"width": width, "height": 760})
        boxes = [await part.bounding_box() for part in parts]
        middles = [round(box["y"] + box["height"] / 2) for box in boxes]
        assert max(middles) - min(middles) <= 2, (width, boxes)
        ends = [box["x"] + box["width"] for box in boxes]
        assert all(end <= box["x"] + 1 for end, box in zip(ends, boxes[1:], strict=False)), (width, boxes)
    mode = parts[1].locator("span")
    assert await mode.evaluate("(span) => span.scrollWidth <= span.clientWidth")
