"""A chat of a thousand messages in each engine: scrolled back by the wheel, its place kept when earlier ones come."""

import json

import pytest

from agentcore.store.chat.chat_rows import NewMessage
from tests.webui.chat.test_long_chat import MESSAGES, stored
from tests.webui.engines.chatting import open_chat, provider
from tests.webui.engines.page import until

__all__ = ["open_chat", "provider"]

pytestmark = pytest.mark.spec("W1")

PLACE = """(frame) => {
  const {top} = frame.getBoundingClientRect();
  const all = [...frame.querySelectorAll('ac-chat-message')];
  const first = all.find((one) => one.getBoundingClientRect().bottom > top);
  const marked = all.find((one) => one.dataset.marked) ?? first;
  marked.dataset.marked = 'yes';
  return {count: all.length, number: marked.item.number, at: Math.round(marked.getBoundingClientRect().top - top)};
}"""
"""How many messages are there, and where the one begins that was in sight first."""


FRAMES = """async () => {
  for (let n = 0; n < 10; n += 1) await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
}"""


async def test_reader_of_a_long_chat_scrolls_back_and_stays_where_they_are(open_chat):
    chat = await open_chat()
    chats = chat.ui.host.store.chats
    row = await chats.get_or_create("s_long", owner="page", user_id="", agent_id="default", model="")
    made = [stored(number) for number in range(MESSAGES)]
    await chats.append_messages(
        row.session_id, [NewMessage(json.dumps(message), "said", text) for message, text in made]
    )
    await chat.page.evaluate("() => { location.hash = '#/chats/s_long'; }")
    await chat.messages.last.says("Answer 999:")
    frame = chat.page.css("ac-chat-messages").css(".frame")

    async def is_at_the_end():
        return await frame.evaluate("(it) => it.scrollHeight - it.scrollTop - it.clientHeight < 2") or None

    await until(is_at_the_end)
    await frame.evaluate("(it) => { it.scrollTop = 1500; }")
    before = await frame.evaluate(PLACE)
    assert before["count"] <= 40
    await frame.wheel(-400)

    async def is_where_the_wheel_left_it():
        now = await frame.evaluate(PLACE)
        is_there = now["count"] > before["count"] and abs(now["at"] - before["at"] - 400) <= 4
        return now if is_there else None

    now = await until(is_where_the_wheel_left_it)
    assert now["number"] == before["number"]
    # what has come is laid out by then, and it is still there
    await frame.evaluate(FRAMES)
    assert await frame.evaluate(PLACE) == now
