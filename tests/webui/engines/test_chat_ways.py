"""A chat in each engine: it streams, is stopped, tried again, gone back in, and its calls wait for a person."""

import asyncio

import pytest

from tests.webui.engines.chatting import open_chat, provider

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


async def test_formulas_are_typeset_with_their_sizes_read_as_mathml_and_a_diagram_is_drawn(open_chat):
    chat = await open_chat()
    formulas = "So \\(a^2\\) is, for $5:\n\n$$\\int_0^1 \\frac{1}{x}\\,dx$$"
    chat.provider.say(f"{formulas}\n\n```mermaid\ngraph TD\n  A[Start] --> B[End]\n```")
    await chat.say("integrate, and draw it")
    await chat.until_idle()
    answer = chat.messages.last
    await answer.css("ac-formula[typeset]").counts(2)
    await answer.css("ac-formula math", is_hidden=True).counts(2)
    await answer.says("for $5")
    assert (await answer.css("ac-formula[display] .katex-html").box())["height"] > 30
    await chat.page.role("img", "Diagram").seen()
    assert (await chat.page.role("img", "Diagram").box())["width"] > 50
