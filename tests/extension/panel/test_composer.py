"""Pictures that go with a message, and messages that wait for their turn, in the panel."""

import asyncio
import base64

from playwright.async_api import expect

from tests.chat.conftest import Reply
from tests.extension.panel.conftest import LIMIT_MS
from tests.extension.test_menus import DOT

COPY = """(data) => fetch(data).then((found) => found.blob())
    .then((blob) => navigator.clipboard.write([new ClipboardItem({'image/png': blob})]))"""
PICTURE = f"data:image/png;base64,{base64.b64encode(DOT).decode()}"


def attached(at):
    """The files that go with the next message."""
    return at.panel.locator("ac-chat-composer").get_by_role("list", name="Attached files").get_by_role("listitem")


async def test_picture_is_pasted_and_goes_with_the_message(beside):
    at = await beside()
    at.server.provider.say("A dot.")
    await at.extension.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await at.panel.evaluate(COPY, PICTURE)
    await at.panel.get_by_role("textbox", name="Message").press("Control+v")
    await expect(attached(at)).to_contain_text(["image.png"], timeout=LIMIT_MS)
    await at.say("What is this?")
    await at.shows("A dot.")
    assert "data:image/png;base64," in at.server.provider.sent
    await expect(attached(at)).to_have_count(0)


async def test_picture_of_the_page_is_attached_once_it_is_sent_from_the_menu(beside):
    at = await beside()
    at.server.provider.say("A dot.")
    pending = {"kind": "picture", "url": f"{at.page.url}/dot.png", "picture": PICTURE, "pageUrl": at.page.url}
    await at.panel.bring_to_front()
    await at.panel.evaluate(
        """async (pending) => {
            const {id: windowId} = await chrome.windows.getCurrent();
            await chrome.storage.session.set({pending: {...pending, windowId, title: 'Shop', at: Date.now()}});
        }""",
        pending,
    )
    await expect(attached(at)).to_contain_text(["picture.png"], timeout=LIMIT_MS)
    await expect(attached(at).locator("img")).to_have_js_property("naturalWidth", 1, timeout=LIMIT_MS)
    await at.say("What is this?")
    await at.shows("A dot.")
    assert "data:image/png;base64," in at.server.provider.sent


async def test_message_that_is_written_during_a_turn_waits_and_takes_the_page_of_then_along(beside, site):
    """What the page is when it is written goes with it, although it is sent later."""
    at = await beside()
    gate = asyncio.Event()
    replies = [Reply("First answer.", gate=gate), Reply("Second answer.")]
    at.server.provider.script = lambda request: replies.pop(0)
    await at.say("First")
    await expect(at.panel.get_by_role("button", name="Stop")).to_be_visible(timeout=LIMIT_MS)
    await at.panel.get_by_role("textbox", name="Message").fill("Second")
    await at.panel.get_by_role("button", name="Send when this has ended").click()
    await expect(at.panel.get_by_text("1 message waits for this to end")).to_be_visible(timeout=LIMIT_MS)
    site.show("/later", "<!doctype html><title>Another page</title>")
    await at.page.goto(site.url("/later"))
    gate.set()
    await at.shows("Second answer.")
    assert at.server.provider.sent.count("Corner shop") > 0
    assert "Another page" not in at.server.provider.sent
    await expect(at.panel.locator("ac-sent-page").last).to_contain_text("Corner shop")
