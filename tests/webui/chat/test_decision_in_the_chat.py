"""A call that waits is decided where it stands in the chat: in a frame of the approval view."""

import asyncio
import json

import pytest
from playwright.async_api import expect

from agentcore.core.approvals.approval_queue import Verdict
from tests.server.approving import Notes
from tests.webui.approval.pressing import press
from tests.webui.approval.viewing import misplaced
from tests.webui.serving import PHONE

pytestmark = pytest.mark.spec("C1", "S2")

ON = '[aria-disabled="false"]'


def add(food, tool_id="call_a"):
    return (tool_id, "pantry_add", json.dumps({"food": food}))


ADD = add("rice")


def yes(frame, tool="pantry_add"):
    return frame.get_by_role("button", name=f"Approve: {tool}")


async def test_call_is_approved_in_its_card_and_the_tray_stays_away(open_chat):
    chat = await open_chat()
    await chat.log_in_to_approve()
    chat.provider.say("I put it there.", ADD)
    chat.provider.say("Rice is there.")
    await chat.say("add rice")
    await expect(chat.decision.get_by_role("article", name="pantry_add")).to_contain_text("rice")
    await expect(chat.page.locator("ac-approval-tray")).to_be_hidden()
    await expect(chat.page.get_by_role("status").filter(has_text="1 decision waits for you")).to_have_count(1)
    frame, content = chat.card.locator("iframe"), chat.decision.locator("ac-approval-view")
    async with asyncio.timeout(30):
        while abs((await frame.bounding_box())["height"] - (await content.bounding_box())["height"]) > 2:
            await asyncio.sleep(0.02)
    assert chat.pantry.added == []
    await press(yes(chat.decision))
    await expect(chat.shown.get_by_text("Rice is there.")).to_be_visible()
    await expect(chat.card.locator("iframe")).to_have_count(0)
    assert chat.pantry.added == ["rice"]
    await chat.card.get_by_role("button", name="pantry_add").click()
    await expect(chat.card).to_contain_text("Approved: you, in the approval view")


@pytest.mark.more
async def test_several_calls_have_a_frame_each_and_one_that_is_decided_elsewhere_settles(open_chat):
    chat = await open_chat()
    await chat.log_in_to_approve()
    chat.provider.say("", add("rice"), add("salt", "call_b"))
    chat.provider.say("Done.")
    await chat.say("add both")
    frames = chat.page.locator("ac-call-card iframe")
    await expect(frames).to_have_count(2)
    first, second = frames.nth(0).content_frame, frames.nth(1).content_frame
    await expect(first.get_by_role("article")).to_contain_text("rice")
    await expect(second.get_by_role("article")).to_contain_text("salt")
    salt = next(call for call in chat.ui.host.approvals.waiting if call.arguments["food"] == "salt")
    await chat.ui.host.approvals.decide_call(salt.call_id, Verdict(approved=False, by="terminal"))
    await expect(frames).to_have_count(1)
    await press(yes(first))
    await expect(chat.shown.get_by_text("Done.")).to_be_visible()
    assert chat.pantry.added == ["rice"]


@pytest.mark.more
async def test_long_call_is_read_from_its_first_line_and_decided_by_touch_on_a_phone(open_chat):
    notes = Notes()
    chat = await open_chat(notes, viewport=PHONE, has_touch=True)
    await chat.log_in_to_approve()
    text = "\n".join(f"line {number} of the note" for number in range(90))
    chat.provider.say("", ("call_a", "note_write", json.dumps({"text": text})))
    chat.provider.say("Written.")
    await chat.say("write")
    first, last = (
        chat.decision.get_by_role("cell", name=f"line {number} of the note", exact=True) for number in (0, 89)
    )
    await expect(first).to_be_in_viewport()
    await expect(last).not_to_be_in_viewport()
    await expect(yes(chat.decision, "note_write")).to_have_attribute("aria-disabled", "true")
    await chat.page.get_by_role("region", name="Messages").evaluate("(list) => list.scrollTo(0, list.scrollHeight)")
    await yes(chat.decision, "note_write").and_(chat.decision.locator(ON)).tap()
    await expect(chat.shown.get_by_text("Written.")).to_be_visible()
    assert notes.written == [text]


@pytest.mark.more
async def test_call_above_the_newest_is_decided_by_touch_wherever_its_buttons_are(open_chat):
    chat = await open_chat(viewport=PHONE, has_touch=True)
    await chat.log_in_to_approve()
    chat.provider.say("", add("rice"), add("salt", "call_b"))
    await chat.say("add rice and salt")
    frames = chat.page.locator("ac-approval-frame iframe")
    await expect(frames).to_have_count(2)
    first = yes(frames.first.content_frame)
    scroller = chat.page.locator("ac-chat-messages .frame")
    # at the lower end of what is seen, where "Newest" would be in the way
    bottom = "(frame) => { const box = frame.getBoundingClientRect(); return box.y + box.height; }"
    await first.wait_for()
    await scroller.evaluate("(frame) => { frame.scrollTop = 0; }")
    box = await first.bounding_box()
    past = box["y"] + box["height"] + 60 - await scroller.evaluate(bottom)
    await scroller.evaluate("(frame, past) => { frame.scrollTop += past; }", past)
    await expect(chat.page.get_by_role("button", name="Newest")).to_be_visible()
    await first.and_(frames.first.content_frame.locator(ON)).tap()
    await expect(frames).to_have_count(1)


@pytest.mark.more
async def test_frame_says_how_to_log_in_and_the_call_can_be_rejected_without(open_chat):
    chat = await open_chat()
    chat.provider.say("", ADD)
    chat.provider.say("Then not.")
    await chat.say("add rice")
    await expect(chat.decision.get_by_role("heading", name="This browser cannot approve yet")).to_be_visible()
    await chat.card.get_by_role("button", name="Reject").click()
    await expect(chat.shown.get_by_text("Then not.")).to_be_visible()
    assert chat.pantry.added == []


@pytest.mark.more
async def test_frame_that_the_page_moves_under_the_pointer_decides_nothing(open_chat):
    chat = await open_chat()
    await chat.log_in_to_approve()
    chat.provider.say("", ADD)
    chat.provider.say("Done.")
    await chat.say("add rice")
    await yes(chat.decision).and_(chat.decision.locator(ON)).wait_for()
    box = await yes(chat.decision).bounding_box()
    await chat.page.evaluate(
        """() => {
            const main = document.querySelector('ac-app').shadowRoot.querySelector('main');
            main.style.setProperty('position', 'relative');
            // not even the page's own code tells the frame of it
            for (let id = 0; id < 10000; id += 1) clearInterval(id);
            let top = 0;
            window.timer = setInterval(() => main.style.setProperty('top', `${top = -160 - top}px`), 40);
        }"""
    )
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    for _ in range(20):
        await chat.page.mouse.click(*middle)
    assert [call.arguments["food"] for call in chat.ui.host.approvals.waiting] == ["rice"]
    await chat.page.evaluate("clearInterval(window.timer)")
    await chat.page.evaluate("document.querySelector('ac-app').shadowRoot.querySelector('main').style.top = '0'")
    await press(yes(chat.decision))
    await expect(chat.shown.get_by_text("Done.")).to_be_visible()


@pytest.mark.more
async def test_messages_of_others_change_nothing_of_the_frame(open_chat):
    """Neither a script of the page nor another frame is taken for the approval view, nor the other way round."""
    chat = await open_chat()
    await chat.log_in_to_approve()
    chat.provider.say("", ADD)
    await chat.say("add rice")
    await yes(chat.decision).and_(chat.decision.locator(ON)).wait_for()
    frame = chat.card.locator("iframe")
    height = (await frame.bounding_box())["height"]
    await chat.page.evaluate("window.postMessage({type: 'agentcore.approvals', height: 5000, needsLogIn: true}, '*')")
    told = {"type": "agentcore.page", "theme": "dark", "isConnected": False, "waiting": [], "elsewhere": []}
    await chat.decision.locator("ac-approval-view").evaluate(
        "(view, told) => window.dispatchEvent(new MessageEvent('message', {data: told, origin: 'http://127.0.0.1:9'}))",
        told,
    )
    await expect(yes(chat.decision)).to_have_attribute("aria-disabled", "false")
    assert await chat.decision.locator("html").get_attribute("data-theme") is None
    assert (await frame.bounding_box())["height"] == height
    assert await chat.card.get_by_role("button", name="Reject").count() == 0


@pytest.mark.more
async def test_frame_in_the_chat_is_accessible_and_works_by_keyboard_in_chinese_and_dark(open_chat, axe_problems):
    chat = await open_chat(locale="zh-CN", color_scheme="dark")
    await chat.log_in_to_approve()
    chat.provider.say("", ADD)
    chat.provider.say("Done.")
    await chat.page.locator("ac-chat-composer textarea").fill("add rice")
    await chat.page.keyboard.press("Enter")
    approve = chat.decision.get_by_role("button", name="批准: pantry_add")
    await expect(approve).to_have_attribute("aria-disabled", "false")
    inside = next(frame for frame in chat.page.frames if "?call=" in frame.url)
    assert await axe_problems(inside) == []
    assert await misplaced(inside) == []
    await chat.decision.get_by_role("button", name="拒绝: pantry_add").focus()
    await chat.page.keyboard.press("Control+Enter")
    await expect(chat.messages.get_by_text("Done.")).to_be_visible()
    assert chat.pantry.added == ["rice"]
