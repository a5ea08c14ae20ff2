"""A chat that plans first: the user edits the plan, approves it, and chooses the mode in which it is carried out."""

import json

import pytest
from agentcore_agent_tools.module import AgentTools
from playwright.async_api import expect

from tests.webui.approval.pressing import TRAY, press

pytestmark = pytest.mark.spec("K4")

STEPS = ("Look at the shelves", "Buy rise", "Rest")
PLAN = [{"id": str(number), "content": step} for number, step in enumerate(STEPS)]
MENU = "Which calls wait for you"


async def ask_for_plan(chat, text):
    """Send the first message of a chat in the mode `plan`, which is confirmed before; gives the plan's card."""
    chat.ui.allowed_errors.append("status of 403")
    await chat.log_in_to_approve()
    await chat.page.get_by_role("button", name=MENU).click()
    await chat.page.get_by_role("menuitemradio", name="Plan only").click()
    await chat.say(text)
    change = chat.page.frame_locator(TRAY).get_by_role("article", name="Change the approval mode")
    await press(change.get_by_role("button", name="Apply"))
    await expect(chat.page.get_by_role("button", name=f"{MENU}: Plan only")).to_be_visible()
    await expect(chat.box).to_have_value("")
    return chat.page.locator("ac-chat-plan")


async def begin_plan(chat):
    """A chat whose model has written a plan; gives the plan's card."""
    chat.provider.say("", ("call_a", "todo_write", json.dumps({"todos": PLAN})))
    chat.provider.say("That is the plan.")
    card = await ask_for_plan(chat, "fill the pantry")
    await expect(card.get_by_role("textbox")).to_have_count(3)
    return card


async def test_plan_is_edited_and_approved_and_becomes_the_to_do_list(open_chat):
    chat = await open_chat(AgentTools())
    card = await begin_plan(chat)
    assert "wants a plan first" in json.dumps(chat.provider.requests[0]["messages"])
    await chat.box.fill("a draft that stays")
    await card.get_by_role("textbox", name="Step 2").fill("Buy rice")
    await card.get_by_role("button", name="Remove step 3").click()
    await card.get_by_role("button", name="Move step 2 up").click()
    await card.get_by_role("button", name="Add a step").click()
    await expect(card.get_by_role("textbox", name="Step 3")).to_be_focused()
    await chat.page.keyboard.type("Say thanks")
    chat.provider.say("", ("call_b", "pantry_add", '{"food": "rice"}'))
    await card.get_by_role("button", name="Approve plan").click()
    await expect(chat.card.locator("iframe")).to_have_count(1)  # the mode is `ask`
    await expect(chat.messages.nth(-2)).to_contain_text("1. Buy rice 2. Look at the shelves 3. Say thanks")
    await expect(card).to_have_count(0)
    await expect(chat.page.get_by_role("button", name=f"{MENU}: Ask always")).to_be_visible()
    await expect(chat.page.locator("ac-chat-todos summary")).to_contain_text("0 of 3")
    await expect(chat.box).to_have_value("a draft that stays")
    asked = json.dumps(chat.provider.requests[-1]["messages"])
    assert "wants a plan first" not in asked
    assert "Buy rice" in asked


@pytest.mark.more
async def test_plan_that_goes_on_in_a_looser_mode_begins_once_that_is_confirmed(open_chat):
    chat = await open_chat(AgentTools())
    card = await begin_plan(chat)
    await card.get_by_label("Then").select_option("Never ask")
    chat.provider.say("", ("call_b", "pantry_add", '{"food": "rice"}'))
    chat.provider.say("All is done.")
    await card.get_by_role("button", name="Approve plan").click()
    change = chat.page.frame_locator(TRAY).get_by_role("article", name="Change the approval mode")
    await expect(change).to_contain_text("mode: allow")
    assert len(chat.provider.requests) == 2
    await press(change.get_by_role("button", name="Apply"))
    await expect(chat.shown.get_by_text("All is done.")).to_be_visible()
    assert chat.pantry.added == ["rice"]


@pytest.mark.more
async def test_answer_without_a_list_is_a_plan_too_and_a_written_wish_changes_it(open_chat):
    chat = await open_chat()
    chat.provider.say("I would buy rice.")
    card = await ask_for_plan(chat, "fill the pantry")
    await expect(card).to_contain_text("The answer is the plan.")
    chat.provider.say("Then bread.")
    await chat.say("no rice")
    await expect(chat.messages.last).to_contain_text("Then bread.")
    chat.provider.say("", ("call_b", "pantry_add", '{"food": "bread"}'))
    await card.get_by_role("button", name="Approve plan").click()
    await expect(chat.messages.nth(-2)).to_contain_text("The plan is approved. Carry it out.")
    await expect(chat.card.locator("iframe")).to_have_count(1)
