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


async def test_key_and_a_frame_of_a_long_chat_are_no_work_for_each_message(open_chat):
    chat = await long_chat(open_chat)
    frame = chat.page.locator("ac-chat-messages .frame")
    assert await chat.messages.count() <= 40  # what a change of chats has to make
    await frame.evaluate("(frame) => { frame.scrollTop = 0; }")
    await expect(chat.messages).not_to_have_count(await chat.messages.count())
    await expect(chat.page.locator("ac-chat-messages .group:not(.measured)")).to_have_count(0)
    groups = chat.page.locator("ac-chat-messages .group")
    assert await groups.count() * 4 <= await chat.messages.count()
    await chat.page.evaluate(
        """() => customElements.whenDefined('ac-chat-message').then(() => {
            window.rendered = 0;
            for (const name of ['ac-chat-message', 'ac-chat-messages', 'ac-user-message', 'ac-chat-text']) {
              const {prototype} = customElements.get(name);
              const render = prototype.render;
              prototype.render = function (...given) { window.rendered += 1; return render.apply(this, given); };
            }
        })"""
    )
    await chat.box.press_sequentially("a draft")
    await expect(chat.box).to_have_value("a draft")
    assert await chat.page.evaluate("window.rendered") == 0


async def test_messages_stay_in_their_group_whatever_comes_before_between_or_after(start_webui):
    page = await (await start_webui()).page()
    groups = await page.evaluate(
        """async () => {
          const {grouped} = await import('/static/chat/messages/grouped.js');
          const known = new Map();
          const keys = (from, to) => Array.from({length: to - from}, (_, at) => String(from + at));
          const steps = [keys(30, 45), keys(0, 45), [...keys(0, 35), 'between', ...keys(35, 48)],
            [...keys(0, 30), ...keys(35, 48), ...keys(30, 35), 'last']];
          return steps.map((step) => grouped(step.map((key) => ({key})), known)
            .map(({id, items}) => [id, items.map(({key}) => key)]));
        }"""
    )
    before: dict[str, int] = {}
    for step in groups[:-1]:
        now = {key: group for group, keys in step for key in keys}
        assert {key: now[key] for key in before} == before
        before = now
    for step in groups:
        assert len({group for group, _ in step}) == len(step)
        assert max(len(keys) for _, keys in step) <= 11
    assert [key for _, keys in groups[-1] for key in keys][-6:] == ["30", "31", "32", "33", "34", "last"]
