"""While the model works, in each engine: calls are decided, output grows, messages wait or join in, all of it stops."""

import asyncio
import json
import os

import pytest

from agentcore.api import Module, ToolContext, tool
from agentcore.core.approvals.approval_queue import Verdict
from tests.webui.engines.chatting import ADD, PHONE, open_chat, provider

__all__ = ["open_chat", "provider"]

pytestmark = pytest.mark.spec("W1", "C1")

ALLOW = {"approvals": {"mode": "allow"}}
COOK = ("call-2", "kitchen_cook", "{}")


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

    @tool(effects=["read"])
    async def kitchen_ask(self, ctx: ToolContext) -> str:
        """Ask for a spice."""
        return await ctx.ask("Which spice?", ["salt", "pepper"])


async def test_call_is_decided_from_its_card_and_the_next_one_rejected_by_what_is_written_instead(open_chat):
    chat = await open_chat()
    chat.provider.say("I put it there.", ADD)
    chat.provider.say("Rice is there.")
    chat.ui.allowed_errors.append("401")  # WebKit keeps the log-in of the window from the frame
    await chat.say("add rice")
    await chat.card.says("waits for you")
    (waiting,) = chat.ui.host.approvals.waiting
    address = f"{chat.ui.server.approval_address}/?call={waiting.call_id}"
    frame = await chat.page.frame(address)
    await frame.role("link", "Decide in a window of its own").click()
    window = await chat.page.window(address)
    await window.role("article", "pantry_add").says("rice")
    approve = window.role("button", "Approve: pantry_add")
    await approve.has("aria-disabled", "false")
    await approve.click()
    await window.text("This is decided").seen()
    await chat.page.window(chat.ui.address)
    await chat.messages.last.says("Rice is there.")
    assert chat.pantry.added == ["rice"]
    await chat.card.css("iframe").gone()
    await chat.card.role("button", "pantry_add").click()
    await chat.card.says("Approved: you, in the approval view")

    chat.provider.say("", ("call-2", *ADD[1:]))
    chat.provider.say("Something else then.")
    await chat.say("more of it")
    await chat.card.says("waits for you")
    await chat.box.fill("no, wait")
    await chat.page.text("Ctrl+Enter: now, and the call is rejected.").seen()
    await chat.page.press("Control+Enter")
    await chat.messages.last.says("Something else then.")
    await chat.card.role("button", "pantry_add").says("rejected")
    assert chat.pantry.added == ["rice"]


async def test_command_shows_what_it_writes_as_it_writes_it_and_its_exit_code(open_chat, tmp_path):
    os.mkfifo(tmp_path / "gate")
    chat = await open_chat("shell_tools", config=ALLOW, roots=[tmp_path])
    command = "echo first; echo second; read line < gate; echo third; exit 3"
    chat.provider.say("", ("call-1", "bash", json.dumps({"command": command})))
    chat.provider.say("It ended.")
    await chat.say("run")
    written = chat.card.css("ac-output").css("pre")
    await written.says("first second")
    await chat.page.reload()
    await written.says("second")
    await asyncio.to_thread((tmp_path / "gate").write_text, "go\n")
    await chat.messages.last.says("It ended.")
    await written.says("third")
    await chat.card.role("button", "bash").says("exit code 3")


async def test_messages_that_wait_are_changed_and_taken_out_by_keyboard(open_chat):
    gate = asyncio.Event()
    chat = await open_chat()
    chat.provider.say("One two three four.", gate=gate)
    chat.provider.say("Second answer.")
    await chat.say("first")
    await chat.messages.last.says("One")
    for text in ("secnd", "wrong"):
        await chat.say(text)
        await chat.queue.role("listitem").last.says(text)
    change = chat.queue.role("button", "Change: secnd")
    await change.focus()
    await chat.page.press("Enter")
    await chat.queue.role("textbox", "Change the message").until_focused()
    await chat.page.press("Escape")
    await change.until_focused()
    await chat.page.press("Enter")
    await chat.queue.role("textbox", "Change the message").fill("second")
    await chat.page.press("Enter")
    await chat.queue.role("button", "Change: second").seen()
    await chat.queue.role("button", "Remove: wrong").focus()
    await chat.page.press("Enter")
    await chat.queue.role("listitem").counts(1)
    gate.set()
    await chat.messages.last.says("Second answer.")
    await chat.queue.gone()
    said = [message["content"] for message in chat.provider.requests[-1]["messages"] if message["role"] == "user"]
    assert said == ["first", "second"]


async def test_escape_stops_a_call_that_runs_and_a_menu_takes_it_first(open_chat):
    """What waits is held until somebody lets it go on."""
    kitchen = Kitchen()
    chat = await open_chat(kitchen)
    chat.provider.say("I cook. ", COOK)
    chat.provider.say("Then soup.")
    chat.ui.allowed_errors.append("401")
    await chat.say("cook")
    await chat.card.says("waits for you")
    (waiting,) = chat.ui.host.approvals.waiting
    await chat.ui.host.approvals.decide_call(waiting.call_id, Verdict(approved=True, by="test"))
    await kitchen.cooking.wait()
    await chat.say("soup, please")
    await chat.queue.role("listitem").counts(1)
    await chat.page.role("button", "Ask always").click()
    await chat.page.role("menuitemradio", "Ask always").seen()
    await chat.page.press("Escape")
    await chat.page.role("menuitemradio", "Ask always").gone()
    await chat.page.role("button", "Stop answering").seen()
    await chat.box.click()
    await chat.page.press("Escape")
    await chat.page.text("You stopped the answer").seen()
    await chat.card.role("button", "kitchen_cook").says("cancelled")
    await chat.until_idle()
    await chat.queue.says("Paused: 1 message waits")
    await chat.page.reload()
    await chat.card.role("button", "kitchen_cook").says("cancelled")
    await chat.queue.role("button", "Resume").click()
    await chat.messages.last.says("Then soup.")


async def test_question_on_a_phone_is_answered_by_typing_and_by_touch_and_no_answer_is_wider(open_chat):
    chat = await open_chat(Kitchen(), config=ALLOW, size=PHONE)
    for spice in ("dill", "pepper"):
        chat.provider.say("", (f"call-{spice}", "kitchen_ask", "{}"))
        chat.provider.say(f"A lot of {spice}.")
    question = chat.page.role("region", "A question for you")
    await chat.say("season it")
    await question.says("Which spice?")
    await chat.say("dill")
    await chat.messages.last.says("A lot of dill.")
    await chat.say("season it again")
    await question.role("button", "pepper").click(kind="touch")
    await chat.messages.last.says("A lot of pepper.")

    wide = "A table:\n\n| a | b |\n|---|---|\n| " + "long " * 40 + " | 2 |\n\n```\n" + "wide " * 60 + "\n```"
    chat.provider.say(wide)
    await chat.say("show me")
    await chat.messages.last.says("wide wide")
    await chat.until_idle()
    assert await chat.page.evaluate("() => document.documentElement.scrollWidth") <= PHONE[0]
