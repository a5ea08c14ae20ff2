"""A call in the page is decided by keyboard, from anywhere in its card."""

import pytest
from playwright.async_api import expect

from tests.extension.panel.conftest import LIMIT_MS, SENTENCE, searching


@pytest.mark.parametrize(
    ("focused", "keys", "searched"),
    [("Reject", "Control+Enter", "Results for iPhone 16"), ("Approve", "Control+Backspace", "")],
)
async def test_call_is_decided_by_keys_whichever_button_has_the_focus(beside, focused, keys, searched):
    at = await beside()
    at.server.provider.script = searching()
    await at.say(SENTENCE)
    button = at.call().get_by_role("button", name=focused)
    await expect(button).to_have_attribute("aria-disabled", "false", timeout=LIMIT_MS)
    await button.focus()
    await at.panel.keyboard.press(keys)
    await at.shows("Done after 1 call.")
    await expect(at.page.get_by_role("status")).to_have_text(searched)


async def test_keys_that_come_from_the_message_box_decide_nothing(beside):
    at = await beside()
    at.server.provider.script = searching()
    await at.say(SENTENCE)
    approve = at.call().get_by_role("button", name="Approve")
    await expect(approve).to_have_attribute("aria-disabled", "false", timeout=LIMIT_MS)
    await at.panel.get_by_role("textbox", name="Message").press("Control+Enter")
    await expect(at.call()).to_be_visible()
    await expect(at.page.get_by_role("status")).to_be_empty()
    await at.decide(approved=False)
    await at.shows("Done after 1 call.")
