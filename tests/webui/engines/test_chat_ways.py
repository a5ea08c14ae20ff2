"""A chat in each engine: it streams, is stopped, tried again, gone back in, and its calls wait for a person."""

import asyncio

import pytest

from agentcore.core.approvals.approval_queue import Verdict
from tests.webui.engines.chatting import ADD, PHONE, open_chat, provider

__all__ = ["open_chat", "provider"]

pytestmark = pytest.mark.spec("W1")

TAKEN_ENTER = """() => {
  const deepest = (one) => (one.shadowRoot?.activeElement ? deepest(one.shadowRoot.activeElement) : one);
  const options = {key: 'Enter', keyCode: 229, bubbles: true, composed: true, cancelable: true};
  deepest(document.activeElement).dispatchEvent(new KeyboardEvent('keydown', options));
}"""
"""The Enter that ends a word of an input method, as Safari tells it."""
SECRET = "sk-only-for-the-server"


async def test_answer_streams_is_answered_again_and_edited(open_chat):
    chat = await open_chat()
    gate = asyncio.Event()
    chat.provider.say("Here is **bold** text, and then a list:\n\n- salt\n- bread\n\nThat is all.", gate=gate)
    await chat.say("hello")
    await chat.messages.last.css("strong").says("bold")
    await chat.page.role("button", "Stop answering").seen()
    gate.set()
    await chat.messages.last.says("That is all.")
    await chat.until_idle()
    await chat.page.role("link", "hello").has("aria-current", "page")

    chat.provider.say("A better one.")
    await chat.page.role("button", "Answer again").click()
    await chat.messages.last.says("A better one.")
    await chat.until_idle()
    await chat.messages.counts(2)

    chat.provider.say("Third answer.")
    await chat.page.role("button", "Edit and send again").click()
    editor = chat.page.role("textbox", "Edit and send again")
    await editor.holds("hello")
    await editor.fill("another one")
    await chat.page.evaluate(TAKEN_ENTER)
    await editor.seen()
    await chat.page.press("Enter")
    await chat.messages.last.says("Third answer.")
    await chat.messages.counts(2)
    assert "another one" in chat.provider.sent


async def test_answer_is_stopped_and_the_chat_is_found_again(open_chat):
    chat = await open_chat()
    chat.provider.say("It begins like this and would go on for long.", gate=asyncio.Event())
    await chat.say("talk")
    await chat.messages.last.says("It begins")
    await chat.page.role("button", "Stop answering").click()
    await chat.page.text("You stopped the answer").seen()
    await chat.page.text("It begins like this").seen()
    await chat.page.role("link", "New chat").click()
    await chat.page.role("heading", "What shall we do?").seen()
    await chat.page.role("link", "talk").click()
    await chat.page.text("You stopped the answer").seen()


async def test_message_waits_for_its_turn_and_goes_out_then(open_chat):
    chat = await open_chat()
    gate = asyncio.Event()
    chat.provider.say("The first half, and the second.", gate=gate)
    chat.provider.say("To the second message.")
    await chat.say("one")
    await chat.messages.last.says("The first")
    await chat.say("two")
    waiting = chat.page.role("region", "Waiting to be sent")
    await waiting.says("two")
    gate.set()
    await chat.messages.last.says("To the second message.")
    await waiting.gone()


async def test_call_waits_in_its_card_and_runs_once_a_person_says_so(open_chat):
    chat = await open_chat()
    chat.provider.say("I put it there.", ADD)
    chat.provider.say("Rice is there.")
    await chat.say("add rice")
    await chat.card.says("pantry_add", "waits for you")
    (waiting,) = chat.ui.host.approvals.waiting
    chat.ui.allowed_errors.append("401")
    frame = await chat.page.frame(f"{chat.ui.server.approval_address}/?call={waiting.call_id}")
    await frame.role("link", "Decide in a window of its own").seen()
    await chat.ui.host.approvals.decide_call(waiting.call_id, Verdict(approved=True, by="test"))
    await chat.messages.last.says("Rice is there.")
    assert chat.pantry.added == ["rice"]
    await chat.card.says("done")


async def test_command_is_completed_by_keyboard_and_runs_without_a_model(open_chat):
    chat = await open_chat(has_model=False)
    await chat.box.click()
    await chat.page.type("/pantry_l")
    await chat.page.role("option", "pantry_list").seen()
    await chat.page.press("Tab")
    await chat.box.holds("/pantry_list ")
    await chat.page.press("Enter")
    await chat.card.says("pantry_list", "done")


async def test_menus_of_the_composer_open_and_close_by_pointer_and_by_keyboard(open_chat):
    chat = await open_chat()
    opener = chat.page.role("button", "Ask always")
    menu = chat.page.role("menuitemradio", "Ask always")
    await opener.click()
    await menu.seen()
    await opener.click()
    await menu.gone()
    await opener.click()
    await menu.seen()
    await chat.page.text("Your chats will appear here.").click()
    await menu.gone()
    await opener.focus()
    await chat.page.press("Enter")
    await menu.seen()
    await chat.page.press("ArrowDown")
    await chat.page.press("Escape")
    await menu.gone()
    await opener.until_focused()


async def test_chat_on_a_phone_is_as_wide_as_that(open_chat):
    chat = await open_chat(size=PHONE)
    chat.provider.say(
        "A table:\n\n| a | b |\n|---|---|\n| " + "long " * 40 + " | 2 |\n\n```\n" + "wide " * 60 + "\n```"
    )
    await chat.say("show me")
    await chat.messages.last.says("wide wide")
    await chat.until_idle()
    assert await chat.page.evaluate("() => document.documentElement.scrollWidth") <= PHONE[0]


async def test_key_leads_to_a_model_and_to_a_chat(open_chat):
    """With one confirmation."""
    chat = await open_chat(has_model=False)
    chat.provider.listed = {"data": [{"id": name} for name in ("small", "large")]}
    chat.ui.allowed_errors += ["401", "403"]
    await chat.page.label("API key").fill(SECRET)
    await chat.page.role("button", "Another base URL").click()
    await chat.page.label("Base URL").fill(f"{chat.provider.url}/v1")
    await chat.page.role("button", "Connect", exact=True).click()
    await chat.page.text("This waits for you in the approval view").seen()
    (change,) = chat.ui.host.policy_changes.waiting
    await chat.ui.host.policy_changes.decide_change(change.change_id, approved=True, by="test")
    await chat.page.role("button", "Use: large").click()
    await chat.page.role("heading", "What shall we do?").seen()
    chat.provider.say("Hello.")
    await chat.say("hi")
    await chat.messages.last.says("Hello.")
    assert chat.provider.requests[0]["model"] == "large"


async def test_formulas_are_typeset_with_their_sizes_and_screen_readers_get_mathml(open_chat):
    chat = await open_chat()
    chat.provider.say("So \\(a^2\\) is, for $5:\n\n$$\\int_0^1 \\frac{1}{x}\\,dx$$")
    await chat.say("integrate")
    await chat.until_idle()
    answer = chat.messages.last
    await answer.css("ac-formula[typeset]").counts(2)
    await answer.css("ac-formula math", is_hidden=True).counts(2)
    await answer.says("for $5")
    assert (await answer.css("ac-formula[display] .katex-html").box())["height"] > 30


async def test_diagram_is_drawn(open_chat):
    chat = await open_chat()
    chat.provider.say("```mermaid\ngraph TD\n  A[Start] --> B[End]\n```")
    await chat.say("draw it")
    await chat.page.role("img", "Diagram").seen()
    assert (await chat.page.role("img", "Diagram").box())["width"] > 50
