"""A chat of a thousand messages: loaded page by page, laid out where somebody looks, its place kept."""

import asyncio
import json
import re

import pytest
from playwright.async_api import expect

from agentcore.api import Module, ToolContext, tool
from agentcore.store.chat.chat_rows import NewMessage

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


COUNT_RENDERED = """(names) => {
    window.rendered = {};
    for (const name of names) {
      const {prototype} = customElements.get(name);
      const render = prototype.render;
      window.rendered[name] = 0;
      prototype.render = function (...given) { window.rendered[name] += 1; return render.apply(this, given); };
    }
}"""
"""From now on, by component."""
CARDS, LINES = 40, 2500
START = """async ([id, count]) => {
    const {client} = await import('/static/client/client.js');
    for (let n = 0; n < count; n += 1) {
      await client.post(`/api/sessions/${id}/command`, {tool: 'flood_out', arguments: {command: `make ${n}`}});
    }
}"""


class Flood(Module):
    """Writes when it is told to, and runs on."""

    name = "flood"

    def __init__(self) -> None:
        self.may_write = asyncio.Event()

    @tool(read_only=True, timeout_s=3600, display={"command": "command"})
    async def flood_out(self, ctx: ToolContext, command: str) -> str:
        """Write many lines, and run until it is stopped."""
        ctx.show_output("begun\n")
        await self.may_write.wait()
        ctx.show_output("".join(f"{number} green bottles\n" for number in range(LINES)))
        await asyncio.Event().wait()
        return ""


async def long_chat(open_chat, *modules, **options):
    chat = await open_chat(*modules, **options)
    chats = chat.ui.host.store.chats
    row = await chats.get_or_create("s_long", owner="page", user_id="", agent_id="default", model="")
    made = [stored(number) for number in range(MESSAGES)]
    await chats.append_messages(
        row.session_id, [NewMessage(json.dumps(message), "said", text) for message, text in made]
    )
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
    before = await chat.messages.count()
    assert before <= 40  # what a change of chats has to make
    await frame.evaluate("(frame) => { frame.scrollTop = 0; }")
    await expect(chat.messages).not_to_have_count(before)
    await expect(chat.page.locator("ac-chat-messages .group:not(.measured)")).to_have_count(0)
    groups = chat.page.locator("ac-chat-messages .group")
    assert await groups.count() * 4 <= await chat.messages.count()
    parts = ["ac-chat-message", "ac-chat-messages", "ac-user-message", "ac-chat-text"]
    await chat.page.evaluate(COUNT_RENDERED, parts)
    await chat.page.evaluate(
        """() => {
            const {get} = Object.getOwnPropertyDescriptor(Element.prototype, 'scrollHeight');
            window.read = 0;
            Object.defineProperty(Element.prototype, 'scrollHeight', {
              get() { window.read += Number(this.localName === 'textarea'); return get.call(this); },
            });
        }"""
    )
    await chat.box.press_sequentially("a draft")
    await expect(chat.box).to_have_value("a draft")
    assert await chat.page.evaluate("window.rendered") == dict.fromkeys(parts, 0)
    assert await chat.page.evaluate("window.read") == 0  # it would lay the page out for each key


async def test_output_of_many_running_calls_is_work_and_text_only_where_it_is_seen(open_chat):
    flood = Flood()
    chat = await long_chat(open_chat, flood, config={"approvals": {"mode": "allow"}})
    await chat.page.evaluate(START, ["s_long", CARDS])
    running = chat.page.locator("ac-call-card article.running")
    await expect(running).to_have_count(CARDS)
    outputs = chat.page.locator("ac-output")
    await expect(outputs).to_have_count(CARDS)
    await expect(chat.page.locator("ac-chat-messages .group:not(.measured)")).to_have_count(0)
    groups = await chat.page.locator("ac-chat-messages .group").evaluate_all(
        "(all) => all.map((group) => group.querySelectorAll('ac-chat-message').length)"
    )
    assert max(groups[-10:]) <= 3  # what is laid out and painted together is not much higher than the view
    elements = "(frame) => frame.querySelectorAll('*').length"
    frame = chat.page.locator("ac-chat-messages .frame")
    before = await frame.evaluate(elements)
    await chat.page.evaluate(COUNT_RENDERED, ["ac-chat-messages", "ac-chat-message", "ac-chat-text", "ac-output"])
    flood.may_write.set()
    await expect(outputs.last.locator("pre")).to_contain_text(f"{LINES - 1} green bottles")
    heard = f"(all) => all.every(({{text}}) => text.includes('{LINES - 1} green'))"
    while not await outputs.evaluate_all(heard):
        await asyncio.sleep(0.05)
    rendered = await chat.page.evaluate("window.rendered")
    shown = rendered.pop("ac-output")
    assert rendered == {"ac-chat-messages": 0, "ac-chat-message": 0, "ac-chat-text": 0}
    in_sight = "(all) => all.filter((one) => one.textContent.includes('green')).length"
    assert await outputs.locator("pre").evaluate_all(in_sight) < CARDS / 2
    assert shown < CARDS
    assert await outputs.locator("pre").evaluate_all(
        "(all) => all.every(({textContent}) => textContent.split('\\n').length <= 201)"
    )
    assert await frame.evaluate(elements) == before


async def test_word_of_an_answer_is_work_for_its_own_message_alone(open_chat):
    chat = await long_chat(open_chat)
    await chat.page.evaluate(COUNT_RENDERED, ["ac-chat-message", "ac-user-message"])

    def tell(number):
        chat.ui.host.events.publish("session.content", {"content": f"word{number} "}, session_id="s_long")

    tell(0)
    await expect(chat.shown.get_by_text("word0")).to_be_visible()
    # that an answer has begun concerns each message, a word of it none of them
    await chat.page.evaluate("Object.keys(window.rendered).forEach((name) => { window.rendered[name] = 0; })")
    for number in range(1, 10):
        tell(number)
    await expect(chat.shown.get_by_text("word9")).to_be_visible()
    rendered = await chat.page.evaluate("window.rendered")
    assert rendered["ac-chat-message"] <= 9
    assert rendered["ac-user-message"] == 0


async def test_messages_of_a_chat_that_is_left_are_hidden_at_once_and_taken_out_a_few_at_a_time(open_chat):
    chat = await long_chat(open_chat)
    frame = chat.page.locator("ac-chat-messages .frame")
    while await chat.messages.count() < 400:
        count = await chat.messages.count()
        await frame.evaluate("(frame) => { frame.scrollTop = 0; }")
        await expect(chat.messages).not_to_have_count(count)
    await chat.page.evaluate(
        """() => {
            window.idle = [];
            window.requestIdleCallback = (work) => window.idle.push(work);
            window.pieces = [];
            window.asked = 0;
            Object.defineProperty(Notification, 'permission', {get() { window.asked += 1; return 'default'; }});
        }"""
    )
    await chat.page.locator("ac-chat-messages .list").evaluate(
        """(list) => new MutationObserver((records) => {
            const removed = records.flatMap(({removedNodes}) => [...removedNodes]).filter((one) => one instanceof Element);
            const count = (one) => one.matches('ac-chat-message') ? 1 : one.querySelectorAll('ac-chat-message').length;
            window.pieces.push(removed.reduce((sum, one) => sum + count(one), 0));
        }).observe(list, {childList: true, subtree: true})"""  # noqa: E501
    )
    made = await chat.messages.count()
    await chat.page.evaluate("location.hash = '#/chats'")
    await expect(chat.page.locator("ac-chat-welcome")).to_be_visible()
    assert await chat.messages.count() == made
    assert await chat.messages.evaluate_all("(all) => all.filter((one) => one.checkVisibility()).length") == 0
    await expect(chat.page.get_by_role("region", name="Messages")).to_have_count(0)
    await expect(chat.page.get_by_text("Answer 999:")).to_be_hidden()
    while await chat.messages.count():
        await chat.page.evaluate("window.idle.splice(0).forEach((work) => work())")
    await chat.page.evaluate("window.idle.splice(0).forEach((work) => work())")
    await expect(chat.page.locator("ac-chat-messages")).to_have_count(0)
    pieces = await chat.page.evaluate("window.pieces")
    assert sum(pieces) == made
    assert max(pieces) <= 160
    assert await chat.page.evaluate("window.asked") == 0  # another process would answer


async def test_messages_stay_in_their_group_whatever_comes_before_between_or_after(start_webui):
    page = await (await start_webui()).page()
    groups = await page.evaluate(
        """async () => {
          const {grouped} = await import('/static/chat/messages/message-groups.js');
          const known = new Map();
          const keys = (from, to) => Array.from({length: to - from}, (_, at) => String(from + at));
          const steps = [keys(30, 45), keys(0, 45), [...keys(0, 35), 'between', ...keys(35, 48)],
            [...keys(0, 30), ...keys(35, 48), ...keys(30, 35), 'last']];
          return steps.map((step) => grouped(step.map((key) => ({key, calls: []})), known)
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
