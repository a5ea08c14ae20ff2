"""A chat of a thousand messages: loaded page by page, laid out where somebody looks, its place kept."""

import json
import re

import pytest
from playwright.async_api import expect

from agentcore.store.chat.rows import NewMessage

pytestmark = pytest.mark.more

MESSAGES = 1000
LAID_OUT = """(list) => [...list.querySelectorAll('ac-chat-message')]
    .filter((message) => message.checkVisibility({contentVisibilityAuto: true})
      && message.shadowRoot.querySelector('*')?.checkVisibility({contentVisibilityAuto: true})).length"""


def stored(number):
    """A message as the model library stores it: the person's and the model's by turns."""
    if number % 2 == 0:
        part = {"content": f"Question {number}", "timestamp": "2026-01-01T00:00:00Z", "part_kind": "user-prompt"}
        return [{"parts": [part], "kind": "request"}], part["content"]
    text = f"Answer {number}:\n\n- one\n- two\n\n```python\nprint({number})\n```"
    part = {"content": text, "part_kind": "text"}
    return [{"parts": [part], "kind": "response", "model_name": "m", "timestamp": "2026-01-01T00:00:00Z"}], text


async def long_chat(open_chat):
    chat = await open_chat()
    chats = chat.ui.host.store.chats
    row = await chats.create("s_long", owner="page", user_id="", agent_id="default", model="")
    made = [stored(number) for number in range(MESSAGES)]
    await chats.append(row.session_id, [NewMessage(json.dumps(message), "said", text) for message, text in made])
    await chat.page.goto(f"{chat.ui.address}/#/chats/s_long")
    await expect(chat.shown.get_by_text("Answer 999:")).to_be_in_viewport()
    return chat


async def test_thousand_messages_are_reached_by_scrolling_and_most_are_not_laid_out(open_chat):
    chat = await long_chat(open_chat)
    frame = chat.page.locator("ac-chat-messages .frame")
    first = chat.shown.get_by_text(re.compile("Question 0$"))
    for _ in range(200):
        if await first.count():
            break
        await frame.evaluate("(frame) => { frame.scrollTop = 0; }")
        await chat.page.evaluate("new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))")
    await expect(chat.messages).to_have_count(MESSAGES)
    await frame.evaluate("(frame) => { frame.scrollTop = 0; }")
    await expect(first).to_be_in_viewport()
    assert await chat.page.locator("ac-chat-messages .list").evaluate(LAID_OUT) < 60


async def test_reader_stays_where_they_are_when_earlier_messages_come(open_chat):
    chat = await long_chat(open_chat)
    frame = chat.page.locator("ac-chat-messages .frame")
    before = await chat.messages.count()
    await frame.evaluate("(frame) => { frame.scrollTop = 600; }")
    seen = await frame.evaluate(
        "(frame) => { const top = frame.getBoundingClientRect().top;"
        " return [...frame.querySelectorAll('ac-chat-message')]"
        ".find((one) => one.getBoundingClientRect().top >= top).item.number; }"
    )
    await expect(chat.messages).not_to_have_count(before)
    await expect(chat.messages.locator(f"text=/(Question|Answer) {seen - 1}\\b/").first).to_be_in_viewport()
