"""The mode of a chat, chosen in the page: it decides what waits there, and is asked about by the chat's title."""

import asyncio
import json

import pytest
from playwright.async_api import expect

from agentcore.core.approvals.approval_queue import Verdict
from tests.webui.approval.pressing import TRAY, press

pytestmark = pytest.mark.spec("S2", "K4")

MENU = "Which calls wait for you"


def add(food):
    return ("call_a", "pantry_add", json.dumps({"food": food}))


async def begin_chat(chat, text):
    """A chat in which a call waits; its id."""
    chat.provider.say("", add(text))
    await chat.page.get_by_role("link", name="New chat").first.click()
    await expect(chat.page.get_by_role("heading", name="What shall we do?")).to_be_visible()
    await chat.say(text)
    await expect(chat.card.locator("iframe")).to_have_count(1)
    return chat.page.url.rsplit("/", 1)[1]


async def choose(chat, mode):
    await chat.page.get_by_role("button", name=MENU).click()
    await chat.page.get_by_role("menuitemradio", name=mode).click()


async def test_looser_mode_is_asked_about_by_the_title_and_lets_run_what_waits_in_this_chat_alone(open_chat):
    chat = await open_chat()
    chat.ui.allowed_errors.append("status of 403")
    await chat.log_in_to_approve()
    await begin_chat(chat, "salt")
    session = await begin_chat(chat, "rice")
    chat.provider.say("Rice is there.")
    await choose(chat, "Never ask")
    tray = chat.page.frame_locator(TRAY)  # the page opens it
    change = tray.get_by_role("article", name="Change the approval mode of rice")
    await expect(change).not_to_contain_text(session)
    await press(change.get_by_role("button", name="Apply: Change the approval mode of rice"))
    await expect(chat.shown.get_by_text("Rice is there.")).to_be_visible()
    await expect(chat.page.get_by_role("button", name=f"{MENU}: Never ask")).to_be_visible()
    await chat.card.get_by_role("button", name="pantry_add").click()
    await expect(chat.card).to_contain_text("Approved: the mode that you chose meanwhile")
    assert chat.pantry.added == ["rice"]
    assert [call.arguments["food"] for call in chat.ui.host.approvals.waiting] == ["salt"]


@pytest.mark.more
async def test_mode_that_refuses_ends_what_waits_and_the_chat_goes_on(open_chat):
    chat = await open_chat()
    await begin_chat(chat, "rice")
    chat.provider.say("Then we only talk.")
    await choose(chat, "No tools")
    await expect(chat.shown.get_by_text("Then we only talk.")).to_be_visible()
    await expect(chat.card.locator("iframe")).to_have_count(0)
    assert (chat.pantry.added, chat.ui.host.approvals.waiting) == ([], [])


@pytest.mark.more
async def test_mode_of_a_chat_without_a_title_is_asked_about_without_its_id(open_chat):
    chat = await open_chat()
    chat.ui.allowed_errors.append("status of 403")
    await chat.log_in_to_approve()
    session = await begin_chat(chat, "rice")
    await chat.ui.host.store.chats.update_session(session, title="")
    await choose(chat, "Never ask")
    change = chat.page.frame_locator(TRAY).get_by_role("article", name="Change the approval mode of an untitled chat")
    await expect(change).to_contain_text("mode: allow")
    await expect(change).not_to_contain_text(session)


@pytest.mark.more
async def test_mode_that_is_chosen_for_a_new_chat_is_that_of_the_next_ones_and_one_of_a_chat_is_not(open_chat):
    chat = await open_chat()
    chat.ui.allowed_errors.append("status of 403")
    await choose(chat, "No tools")
    await chat.page.reload()
    await expect(chat.page.get_by_role("button", name=f"{MENU}: No tools")).to_be_visible()
    chat.provider.say("Hello.")
    await chat.say("hi")
    await expect(chat.shown.get_by_text("Hello.")).to_be_visible()
    await choose(chat, "Ask always")
    await chat.page.get_by_role("link", name="New chat").first.click()
    await expect(chat.page.get_by_role("button", name=f"{MENU}: No tools")).to_be_visible()


@pytest.mark.more
async def test_click_on_a_chat_that_came_under_the_pointer_just_now_opens_nothing(open_chat):
    chat = await open_chat()
    first = await begin_chat(chat, "salt")
    await begin_chat(chat, "rice")
    links = chat.page.locator("ac-chat-sessions li a span[dir]")
    await expect(links).to_have_text(["rice", "salt"])
    await chat.page.get_by_role("link", name="New chat").first.click()
    box = await links.first.bounding_box()
    await chat.page.mouse.move(box["x"] + 20, box["y"] + box["height"] / 2)
    # the click follows as soon as the other chat has moved to the top
    listed = chat.page.locator("ac-chat-sessions")
    await listed.evaluate(
        """(list) => {
            window.clicked = [];
            const look = () => {
                const top = list.renderRoot.querySelector('li a');
                if (!top.textContent.includes('salt')) return requestAnimationFrame(look);
                const {left, y} = top.getBoundingClientRect();
                const at = {detail: 1, clientX: left + 20, clientY: y + 5};
                top.dispatchEvent(new MouseEvent('click', {bubbles: true, composed: true, cancelable: true, ...at}));
                window.clicked.push(location.hash);
            };
            look();
        }"""
    )
    (salt,) = [call for call in chat.ui.host.approvals.waiting if call.session_id == first]
    chat.provider.say("No salt.")
    await chat.ui.host.approvals.decide_call(salt.call_id, Verdict(False, "test"))
    await expect(links).to_have_text(["salt", "rice"])
    await chat.page.wait_for_function("window.clicked.length")
    assert not chat.page.url.endswith(first)
    # once it has been there for a while, a click counts
    await listed.evaluate(
        """(list) => {
            const press = () => list.renderRoot.querySelector('li a').dispatchEvent(
                new MouseEvent('click', {bubbles: true, composed: true, cancelable: true, detail: 1}));
            const timer = setInterval(press, 50);
            addEventListener('hashchange', () => clearInterval(timer));
        }"""
    )
    await expect(chat.shown.get_by_text("No salt.")).to_be_visible()


@pytest.mark.more
async def test_message_waits_until_the_mode_that_was_chosen_before_it_holds(open_chat):
    chat = await open_chat()
    chat.provider.say("Hello.")
    await chat.say("hi")
    await expect(chat.messages.last).to_contain_text("Hello.")
    await chat.until_idle()
    answering = asyncio.Event()

    async def delay_patch(route):
        if route.request.method == "PATCH":
            await answering.wait()
        await route.continue_()

    await chat.page.route("**/api/sessions/*", delay_patch)
    chat.provider.say("", add("salt"))
    chat.provider.say("No salt, then.")
    async with chat.page.expect_request(lambda request: request.method == "PATCH"):
        await choose(chat, "No tools")
    await chat.say("add salt")
    await expect(chat.box).to_have_value("")
    assert len(chat.provider.requests) == 1
    answering.set()
    await expect(chat.shown.get_by_text("No salt, then.")).to_be_visible()
    await chat.until_idle()
    assert (chat.pantry.added, chat.ui.host.approvals.waiting) == ([], [])
