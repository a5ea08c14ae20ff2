"""Questions of tools are counted and shown wherever calls that wait are, and answered from there."""

import re

import pytest
from playwright.async_api import expect

from tests.webui.approval.pressing import TRAY
from tests.webui.approval.viewing import approval_view
from tests.webui.serving import PHONE

pytestmark = pytest.mark.spec("K2")
ASK = ("a", "ask_user", '{"question": "Which colour?", "options": ["red", "blue"]}')


@pytest.mark.more
async def test_question_of_another_chat_is_counted_everywhere_and_answered_in_the_tray(open_chat):
    chat = await open_chat("agent_tools")
    page = chat.page
    await chat.log_in_to_approve()
    chat.provider.say("", ASK)
    chat.provider.say("Blue it is.")
    await chat.say("paint")
    await expect(page.get_by_role("region", name="A question for you")).to_contain_text("Which colour?")
    badge = page.locator("ac-sidebar button.waiting")
    await expect(badge).to_have_text("1 decision waits for you")
    await expect(page).to_have_title(re.compile(r"^\(1\) "))
    await expect(page.locator("ac-chat-sessions .mark.waits")).to_have_count(1)
    await expect(page.locator("ac-approval-tray header:not(.ask)")).to_be_hidden()  # the chat in view shows it
    await page.get_by_role("link", name="New chat").first.click()
    tray = page.locator("ac-approval-tray header:not(.ask)")
    await expect(tray).to_contain_text("1")
    await tray.get_by_role("button", name="Show").click()
    card = page.frame_locator(TRAY).get_by_role("article")
    await expect(card).to_contain_text("The chat “paint” asks you")
    await card.get_by_role("button", name="blue").click()
    await expect(badge).to_have_count(0)
    await expect(page).to_have_title(re.compile(r"^[^(]"))
    await expect(page.locator("ac-chat-sessions .mark.waits")).to_have_count(0)
    await page.get_by_role("link", name="paint").first.click()
    await expect(chat.messages.last).to_contain_text("Blue it is.")
    assert "blue" in chat.provider.sent


@pytest.mark.more
@pytest.mark.parametrize("locale", ["en", "zh-CN"])
async def test_question_is_answered_from_a_phone_in_the_approval_view(open_chat, locale):
    chat = await open_chat("agent_tools")
    chat.provider.say("", ASK)
    chat.provider.say("Green it is.")
    await chat.say("paint")
    await expect(chat.page.get_by_role("region", name="A question for you")).to_be_visible()
    phone = await approval_view(chat.ui, viewport=PHONE, has_touch=True, locale=locale)
    card = phone.get_by_role("article")
    await expect(card).to_contain_text("Which colour?")
    assert await phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await card.get_by_role("textbox").fill("a warm green")
    await card.get_by_role("textbox").press("Enter")
    await expect(card).to_have_count(0)
    await expect(chat.messages.last).to_contain_text("Green it is.")
    assert "a warm green" in chat.provider.sent
