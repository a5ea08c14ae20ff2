"""While the model works: stopping it in every window, and messages that wait for their turn or join it."""

import asyncio
import contextlib
import re

import pytest
from playwright.async_api import expect

from agentcore.api import Module, ToolContext, tool
from agentcore.core.approvals.approval_queue import Verdict

ADD = ("a", "pantry_add", '{"food": "rice"}')
COOK = ("c", "kitchen_cook", "{}")


class Kitchen(Module):
    """Cooks until somebody stops it."""

    name = "kitchen"

    def __init__(self) -> None:
        self.cooking, self.done = asyncio.Event(), asyncio.Event()

    @tool(effects=["write"])
    async def kitchen_cook(self, ctx: ToolContext) -> str:
        """Cook something that takes long."""
        self.cooking.set()
        await self.done.wait()
        return "cooked"


def stop_button(page):
    return page.get_by_role("button", name="Stop answering")


def queue_of(page):
    return page.get_by_role("region", name="Waiting to be sent")


def rows_of(page):
    return queue_of(page).get_by_role("listitem")


async def test_call_that_was_approved_is_stopped_in_another_window_and_settles_in_both(open_chat):
    kitchen = Kitchen()
    chat = await open_chat(kitchen)
    chat.provider.say("I cook. ", COOK)
    await chat.say("cook")
    await expect(chat.card).to_contain_text("waits for you")
    await expect(stop_button(chat.page)).to_be_visible()
    await chat.decide(approved=True)
    await kitchen.cooking.wait()
    await expect(stop_button(chat.page)).to_be_visible()
    other = await chat.ui.page(chat.page.url[chat.page.url.index("#") :])
    await stop_button(other).click()
    for page in (chat.page, other):
        card = page.locator("ac-call-card").last
        await expect(card.get_by_role("button", name="kitchen_cook")).to_contain_text("cancelled")
        await expect(page.get_by_text("You stopped the answer")).to_be_visible()
        await expect(stop_button(page)).to_have_count(0)
    await chat.page.reload()
    await expect(chat.card.get_by_role("button", name="kitchen_cook")).to_contain_text("cancelled")
    assert chat.ui.host.calls.in_flight == {}


@pytest.mark.more
async def test_several_calls_that_wait_leave_stop_in_every_window_and_it_settles_them_all(open_chat):
    chat = await open_chat()
    chat.provider.say("", ADD, ("b", "pantry_add", '{"food": "salt"}'))
    await chat.say("add both")
    await expect(chat.page.locator("ac-call-card").filter(has_text="waits for you")).to_have_count(2)
    other = await chat.ui.page(chat.page.url[chat.page.url.index("#") :])
    for page in (chat.page, other):
        await expect(stop_button(page)).to_be_visible()
    await chat.page.reload()
    await expect(stop_button(chat.page)).to_be_visible()
    one, _ = chat.ui.host.approvals.waiting
    await chat.ui.host.approvals.decide_call(one.call_id, Verdict(approved=False, by="test"))
    for page in (chat.page, other):
        await expect(page.locator("ac-call-card").filter(has_text="waits for you")).to_have_count(1)
        await expect(stop_button(page)).to_be_visible()
    await stop_button(chat.page).click()
    for page in (chat.page, other):
        await expect(page.locator("ac-call-card").filter(has_text="waits for you")).to_have_count(0)
        await expect(stop_button(page)).to_have_count(0)
    assert chat.ui.host.approvals.waiting == []


@pytest.mark.more
async def test_escape_stops_keeps_what_came_and_a_menu_takes_it_first(open_chat):
    chat = await open_chat()
    chat.provider.say("It begins like this and would go on for long.", gate=asyncio.Event())
    await chat.say("talk")
    await expect(chat.messages.nth(1)).to_contain_text("It begins")
    opener = chat.page.get_by_role("button", name="Which calls wait for you: Ask always")
    await opener.click()
    await expect(chat.page.get_by_role("menuitemradio", name="Ask always")).to_be_visible()
    await chat.page.keyboard.press("Escape")
    await expect(chat.page.get_by_role("menuitemradio", name="Ask always")).to_be_hidden()
    await expect(stop_button(chat.page)).to_be_visible()
    await chat.box.press("Escape")
    await expect(chat.page.get_by_text("You stopped the answer")).to_be_visible()
    await chat.page.reload()
    await expect(chat.messages.nth(1)).to_contain_text("It begins")
    await expect(chat.page.get_by_text("You stopped the answer")).to_be_visible()


@pytest.mark.more
async def test_messages_wait_are_changed_and_taken_out_by_keyboard_and_go_out_in_order(open_chat):
    gate = asyncio.Event()
    chat = await open_chat()
    chat.provider.say("One two three four.", gate=gate)
    chat.provider.say("Second answer.")
    chat.provider.say("Third answer.")
    await chat.say("first")
    await expect(chat.messages.nth(1)).to_contain_text("One")
    for text in ("secnd", "wrong", "third"):
        await chat.say(text)
        await expect(rows_of(chat.page).last).to_contain_text(text)
    await expect(queue_of(chat.page)).to_contain_text("3 messages wait for this to end")
    await expect(rows_of(chat.page).nth(1)).to_contain_text("Number 2 of 3")
    await rows_of(chat.page).nth(0).get_by_role("button", name="Change: secnd").press("Enter")
    editor = queue_of(chat.page).get_by_role("textbox", name="Change the message")
    await editor.press("Escape")
    await expect(rows_of(chat.page).nth(0).get_by_role("button", name="Change: secnd")).to_be_focused()
    await chat.page.keyboard.press("Enter")
    await editor.fill("second")
    await editor.press("Enter")
    await expect(rows_of(chat.page).nth(0)).to_contain_text("second")
    await rows_of(chat.page).nth(1).get_by_role("button", name="Remove: wrong").press("Enter")
    await expect(rows_of(chat.page)).to_have_count(2)
    other = await chat.ui.page(chat.page.url[chat.page.url.index("#") :])
    await expect(rows_of(other)).to_have_count(2)
    gate.set()
    for page in (chat.page, other):
        shown = page.get_by_role("region", name="Messages")
        await expect(shown.get_by_text("Third answer.")).to_be_visible()
        await expect(queue_of(page)).to_have_count(0)
    said = [message["content"] for message in chat.provider.requests[-1]["messages"] if message["role"] == "user"]
    assert said == ["first", "second", "third"]


@pytest.mark.more
async def test_stop_holds_what_waits_and_resume_lets_it_go_on(open_chat):
    chat = await open_chat()
    chat.provider.say("One two three four.", gate=asyncio.Event())
    chat.provider.say("Second answer.")
    await chat.say("first")
    await expect(chat.messages.nth(1)).to_contain_text("One")
    await chat.say("second")
    await expect(rows_of(chat.page)).to_have_count(1)
    await stop_button(chat.page).click()
    await expect(queue_of(chat.page)).to_contain_text("Paused: 1 message waits")
    await chat.page.reload()
    await expect(queue_of(chat.page)).to_contain_text("Paused: 1 message waits")
    await queue_of(chat.page).get_by_role("button", name="Resume").click()
    await expect(chat.shown.get_by_text("Second answer.")).to_be_visible()
    await expect(queue_of(chat.page)).to_have_count(0)


@pytest.mark.more
async def test_message_that_is_being_sent_is_not_taken_for_another_one_with_the_same_text(open_chat):
    chat = await open_chat()
    gate = asyncio.Event()
    chat.provider.say("One two three four.", gate=gate)
    await chat.say("first")
    await expect(chat.messages.nth(1)).to_contain_text("One")
    release = asyncio.Event()

    async def hold(route):
        await release.wait()
        await route.continue_()

    await chat.page.route(re.compile(r"/messages$"), hold)
    await chat.say("again")
    remove = rows_of(chat.page).get_by_role("button", name="Remove: again")
    await expect(remove).to_be_disabled()
    session_id = chat.page.url.rsplit("/", 1)[1]
    for text in ("again", "last"):  # from another client
        async with chat.ui.server.post(f"/api/sessions/{session_id}/messages", json={"text": text}) as answer:
            assert answer.status == 202
    await expect(rows_of(chat.page).filter(has_text="last")).to_have_count(1)
    await expect(remove).to_be_disabled()
    release.set()
    await expect(rows_of(chat.page)).to_have_count(3)
    await expect(remove.nth(0)).to_be_enabled()
    await expect(remove.nth(1)).to_be_enabled()
    await stop_button(chat.page).click()


@pytest.mark.more
async def test_call_that_waits_when_the_turn_is_stopped_waits_nowhere_any_more(open_chat):
    chat = await open_chat()
    chat.provider.say("", ADD)
    await chat.log_in_to_approve()
    window = await chat.page.context.new_page()
    await window.goto(chat.ui.server.approval_address)
    await chat.say("add rice")
    await expect(window.get_by_role("article", name="pantry_add")).to_be_visible()
    await expect(chat.page).to_have_title("(1) add rice · Chats · agentcore")
    await stop_button(chat.page).click()
    await expect(chat.card.get_by_role("button", name="pantry_add")).to_contain_text("cancelled")
    await expect(window.get_by_role("article")).to_have_count(0)
    await expect(chat.page.locator("ac-approval-tray")).to_be_hidden()
    await expect(chat.page).to_have_title("add rice · Chats · agentcore")


@pytest.mark.more
async def test_message_while_a_call_waits_is_queued_and_one_sent_now_takes_the_call_s_place(open_chat):
    chat = await open_chat()
    chat.provider.say("", ADD)
    chat.provider.say("Something else then.")
    chat.provider.say("And later.")
    await chat.say("add rice")
    await expect(chat.card.get_by_role("button", name="Reject")).to_be_visible()
    await chat.say("later")
    await expect(rows_of(chat.page)).to_have_count(1)
    await chat.box.fill("no, wait")
    await expect(chat.page.get_by_text("Ctrl+Enter: now, and the call is rejected.")).to_be_visible()
    await chat.box.press("Control+Enter")
    await expect(chat.shown.get_by_text("Something else then.")).to_be_visible()
    await expect(chat.card.get_by_role("button", name="pantry_add")).to_contain_text("rejected")
    await expect(chat.shown.get_by_text("And later.")).to_be_visible()
    assert chat.pantry.added == []


@pytest.mark.more
async def test_message_that_waits_is_sent_now_into_the_turn_that_goes_on(open_chat):
    kitchen = Kitchen()
    chat = await open_chat(kitchen, config={"approvals": {"mode": "allow"}})
    chat.provider.say("", COOK)
    chat.provider.say("With salt.")
    await chat.say("cook")
    await kitchen.cooking.wait()
    await chat.say("add salt")
    await rows_of(chat.page).get_by_role("button", name="Send now: add salt").click()
    await expect(rows_of(chat.page)).to_contain_text("with its next step")
    kitchen.done.set()
    await expect(chat.shown.get_by_text("With salt.")).to_be_visible()
    await expect(queue_of(chat.page)).to_have_count(0)
    assert len(chat.provider.requests) == 2


@pytest.mark.more
async def test_answer_about_an_earlier_turn_that_comes_late_takes_nothing_away(open_chat):
    chat = await open_chat()
    for answer in ("Zeroth answer.", "First answer.", "Second answer."):
        chat.provider.say(answer)
    await chat.say("zero")
    await expect(chat.messages.last).to_contain_text("Zeroth answer.")
    await chat.until_idle()
    held, release = asyncio.Event(), asyncio.Event()
    answered: asyncio.Queue[bool] = asyncio.Queue()

    async def delay_first(route):
        response = await route.fetch()
        is_first = not held.is_set()
        held.set()
        if is_first:
            await release.wait()
        await route.fulfill(response=response)
        answered.put_nowait(is_first)

    await chat.page.route(re.compile(r"/messages\?limit="), delay_first)
    await chat.say("one")
    await held.wait()  # what is stored after the first turn is on its way, and slow
    await chat.say("two")
    await expect(chat.messages.last).to_contain_text("Second answer.")
    with contextlib.suppress(TimeoutError):  # what is stored after the second one may overtake it
        await asyncio.wait_for(answered.get(), 2)
    async with chat.page.expect_event("requestfinished", lambda request: "/messages?limit=" in request.url):
        release.set()
    await chat.until_idle()
    frames = "() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))"
    await chat.page.evaluate(frames)
    await expect(chat.messages).to_have_count(6)
    await expect(chat.messages.last).to_contain_text("Second answer.")
