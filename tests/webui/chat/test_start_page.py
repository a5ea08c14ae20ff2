"""The start page: the message box, what waits, the last chats, the folder in use, and the side bar beside it."""

import asyncio
import re

import pytest
from playwright.async_api import expect

from agentcore.api import Module, WebComponent, tool

PHONE = {"width": 390, "height": 844}


async def begin(chat, title):
    session = await (await chat.ui.server.post("/api/sessions", json={})).json()
    await chat.ui.server.patch(f"/api/sessions/{session['sessionId']}", json={"title": title})
    return session["sessionId"]


async def test_first_address_is_a_message_box_that_has_the_focus(open_chat, tmp_path):
    folder = tmp_path / "orchard"
    folder.mkdir()
    chat = await open_chat(path="", roots=[folder])
    await expect(chat.box).to_be_focused()
    await expect(chat.page.get_by_title(str(folder), exact=True)).to_contain_text("orchard")
    await expect(chat.page.get_by_role("link", name="Chats", exact=True)).to_have_attribute("aria-current", "page")
    await chat.page.get_by_role("link", name="agentcore").click()
    await expect(chat.box).to_be_visible()


@pytest.mark.more
async def test_what_waits_is_on_the_start_page_and_leads_to_its_chat(open_chat):
    chat = await open_chat()
    chat.provider.say("", ("call-1", "pantry_add", '{"food": "salt"}'))
    await chat.say("put salt in")
    await expect(chat.card).to_contain_text("waits for you")
    await chat.page.get_by_role("link", name="agentcore").click()
    waiting = chat.page.get_by_role("region", name="Waiting for you")
    await expect(waiting.get_by_role("link")).to_contain_text("1 decision waits for you")
    await waiting.get_by_role("link", name="put salt in").click()
    await expect(chat.card).to_contain_text("waits for you")
    await chat.decide(approved=False)
    await chat.page.get_by_role("link", name="agentcore").click()
    await expect(chat.page.get_by_role("heading", name="What shall we do?")).to_be_visible()
    await expect(waiting).to_have_count(0)


@pytest.mark.more
async def test_last_chats_are_on_the_start_page_where_their_list_is_not_beside_it(open_chat):
    chat = await open_chat(viewport=PHONE)
    for number in range(7):
        await begin(chat, f"Chat {number}")
    recent = chat.page.get_by_role("region", name="Recent chats")
    await expect(recent.get_by_role("link")).to_have_count(5)
    await recent.get_by_role("link", name="Chat 6").click()
    await expect(chat.page.get_by_role("heading", name="Chat 6")).to_be_visible()
    await chat.page.goto(f"{chat.ui.address}/#/")
    await chat.page.set_viewport_size({"width": 1280, "height": 800})
    await expect(chat.page.get_by_role("link", name="Chat 0")).to_be_visible()
    await expect(recent).to_have_count(0)


class Shed(Module):
    """Has a page to work with."""

    name = "shed"

    def __init__(self, folder):
        self._folder = folder

    @tool(read_only=True)
    async def shed_open(self) -> str:
        """Open the shed."""
        return "open"

    def get_web_component(self):
        return WebComponent("shed-page", "page.js", self._folder, "Shed")


class Meter(Module):
    """Has a page to manage something with."""

    name = "meter"

    def __init__(self, folder):
        self._folder = folder

    def get_web_component(self):
        return WebComponent("meter-page", "page.js", self._folder, "Meter", group="manage")


@pytest.mark.more
async def test_side_bar_separates_what_one_works_with_from_what_one_manages(open_chat, tmp_path):
    (tmp_path / "page.js").write_text("")
    chat = await open_chat(Shed(tmp_path), Meter(tmp_path))
    sections = chat.page.get_by_role("navigation", name="Sections")
    work = sections.get_by_role("list", name="Work").get_by_role("link")
    manage = sections.get_by_role("list", name="Manage").get_by_role("link")
    await expect(work).to_have_text(["Chats", "Shed"])
    await expect(manage).to_have_text(
        ["Modules", "Tools", "Skills", "Clients", "Hosts", "Activity", "Settings", "Meter"]
    )


@pytest.mark.more
@pytest.mark.spec("S2")
async def test_emergency_stop_stands_out_only_while_something_runs(open_chat):
    chat = await open_chat()
    stop = chat.page.locator("ac-stop button")
    await expect(stop).not_to_have_class(re.compile("busy"))
    gate = asyncio.Event()
    chat.provider.say("Good day.", gate=gate)
    await chat.say("hello")
    await expect(stop).to_have_class(re.compile("busy"))
    gate.set()
    await chat.until_idle()
    await expect(stop).not_to_have_class(re.compile("busy"))
    await chat.say("/pantry_list")
    await expect(chat.card).to_contain_text("done")
    await expect(stop).not_to_have_class(re.compile("busy"))


@pytest.mark.more
async def test_chat_has_most_of_a_window_that_is_zoomed_to_200_percent(open_chat):
    chat = await open_chat(viewport={"width": 640, "height": 400}, device_scale_factor=2)
    await expect(chat.box).to_be_visible()
    height = await chat.page.locator("ac-chat-conversation").evaluate("(element) => element.clientHeight")
    assert height > 0.55 * 400
