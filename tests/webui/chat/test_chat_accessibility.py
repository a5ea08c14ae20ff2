"""axe-core finds nothing serious in the chats, in both themes, on a desk and on a phone."""

import pytest
from playwright.async_api import expect

PHONE = {"width": 390, "height": 844}
ADD = ("call-1", "pantry_add", '{"food": "rice", "count": 2}')


async def test_chat_with_a_card_that_waits_is_accessible(open_chat, axe_problems):
    chat = await open_chat()
    chat.provider.say("I do it.\n\n```python\nprint(1)\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |", ADD)
    await chat.say("add rice")
    await expect(chat.card.get_by_role("button", name="Reject")).to_be_visible()
    await chat.card.get_by_role("button", name="pantry_add").click()
    await chat.messages.first.hover()
    assert await axe_problems(chat.page) == []
    await chat.page.get_by_role("button", name="Which calls wait for you").click()
    assert await axe_problems(chat.page) == []


@pytest.mark.more
async def test_first_steps_and_suggestions_are_accessible(open_chat, axe_problems):
    chat = await open_chat(has_model=False)
    await expect(chat.page.get_by_role("heading", name="Connect a model")).to_be_visible()
    assert await axe_problems(chat.page) == []
    await chat.box.press_sequentially("/pa")
    await expect(chat.page.get_by_role("listbox", name="Suggestions")).to_be_visible()
    assert await axe_problems(chat.page) == []


@pytest.mark.more
async def test_phone_in_chinese_has_the_list_in_a_drawer_and_nothing_runs_over(open_chat, axe_problems):
    chat = await open_chat(viewport=PHONE, locale="zh-CN")
    await chat.page.get_by_role("button", name="对话", exact=True).click()
    await expect(chat.page.get_by_role("dialog", name="对话")).to_be_visible()
    assert await axe_problems(chat.page) == []
    assert await chat.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


@pytest.mark.more
async def test_attached_files_before_and_after_they_are_sent_are_accessible(open_chat, axe_problems):
    chat = await open_chat()
    chat.ui.allowed_errors.append("507")
    chat.provider.say("Seen.")
    files = chat.page.locator("ac-chat-composer input[type=file]")
    await files.set_input_files([{"name": "notes.txt", "mimeType": "text/plain", "buffer": b"words"}])
    await expect(chat.page.locator("ac-attachments progress")).to_have_count(0)
    await chat.page.route("**/api/artifacts?*", lambda route: route.fulfill(status=507, body="{}"))
    await files.set_input_files([{"name": "more.txt", "mimeType": "text/plain", "buffer": b"words"}])
    await expect(chat.page.get_by_role("button", name="Send more.txt again")).to_be_visible()
    assert await axe_problems(chat.page) == []
    await chat.page.get_by_role("button", name="Remove more.txt").click()
    await chat.say("Look")
    await chat.shown.get_by_role("button", name="Open notes.txt").click()
    await expect(chat.page.get_by_role("dialog", name="notes.txt")).to_be_visible()
    assert await axe_problems(chat.page) == []
