"""What the context menu sends waits for the panel, which opens."""

import asyncio
import base64
import re

import pytest
from playwright.async_api import expect

from tests.extension.serving import LIMIT_S

SEND = """async ([info, pageUrl]) => {
    const {sendToChat} = await import('/worker/menus.js');
    const tab = (await chrome.tabs.query({})).find(({url}) => url === pageUrl);
    await sendToChat({...info, pageUrl, editable: false}, tab);
}"""
TAKE = """async () => {
    const {takePending} = await import('/worker/api.js');
    return takePending((await chrome.storage.session.get('pending')).pending?.windowId);
}"""
ITEMS = ["send-selection", "send-link", "send-picture", "send-page"]
DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest.mark.parametrize(
    ("info", "sent"),
    [
        (
            {"menuItemId": "send-selection", "selectionText": "iPhone 16"},
            {"kind": "selection", "text": "iPhone 16"},
        ),
        (
            {"menuItemId": "send-link", "linkUrl": "http://localhost/offer"},
            {"kind": "link", "url": "http://localhost/offer"},
        ),
        ({"menuItemId": "send-page"}, {"kind": "page"}),
    ],
)
async def test_what_is_sent_from_the_menu_is_there_once_and_opens_the_panel(extension, site, info, sent):
    site.show("/", "<title>Shop</title>")
    page = await extension.context.new_page()
    await page.goto(site.url())
    await extension.run(SEND, [info, page.url])
    pending = await extension.run(TAKE)
    assert pending.items() >= {**sent, "pageUrl": page.url, "title": "Shop"}.items()
    assert await extension.run(TAKE) is None
    contexts = await extension.run("() => chrome.runtime.getContexts({contextTypes: ['SIDE_PANEL']})")
    assert [each["documentUrl"] for each in contexts] == [f"{extension.origin}/panel/panel.html"]


async def test_picture_comes_as_the_page_shows_it_and_nobody_is_asked_for_it_again(extension, site):
    site.show("/", "<title>Shop</title><img src='/dot.png'>")
    site.show("/dot.png", DOT, "image/png")
    page = await extension.context.new_page()
    await page.goto(site.url())
    await page.locator("img").evaluate("(image) => image.decode()")
    info = {"menuItemId": "send-picture", "srcUrl": site.url("/dot.png"), "mediaType": "image"}
    await extension.run(SEND, [info, page.url])
    pending = await extension.run(TAKE)
    assert (pending["kind"], pending["url"]) == ("picture", site.url("/dot.png"))
    assert pending["picture"].startswith("data:image/png;base64,")
    assert site.asked.count("/dot.png") == 1


async def test_menu_has_its_items(extension):
    script = """(id) => new Promise((resolve) => {
        chrome.contextMenus.update(id, {enabled: true}, () => resolve(chrome.runtime.lastError?.message ?? 'there'));
    })"""
    worker = await extension.worker()
    async with asyncio.timeout(LIMIT_S):
        for item in ITEMS:
            while await worker.evaluate(script, item) != "there":  # it is made when the extension has been installed
                await asyncio.sleep(0.02)


async def test_panel_takes_a_selection_as_a_draft_and_a_picture_as_a_file(start_server, extension, site):
    site.show("/", "<title>Shop</title><img src='/dot.png'>")
    site.show("/dot.png", DOT, "image/png")
    server = await start_server()
    await extension.pair(server)
    page = await extension.context.new_page()
    await page.goto(site.url())
    await page.locator("img").evaluate("(image) => image.decode()")
    panel = await extension.open_panel(page)
    message = panel.get_by_role("textbox", name="Message")
    await message.wait_for()
    await extension.run(SEND, [{"menuItemId": "send-selection", "selectionText": "iPhone 16"}, page.url])
    await expect(message).to_have_value(re.compile("> iPhone 16"))
    info = {"menuItemId": "send-picture", "srcUrl": site.url("/dot.png"), "mediaType": "image"}
    await extension.run(SEND, [info, page.url])
    await expect(panel.get_by_text(".png")).to_be_visible()


async def test_panel_takes_what_was_sent_from_its_window_while_another_one_is_in_front(start_server, extension, site):
    site.show("/", "<title>Shop</title>")
    server = await start_server()
    await extension.pair(server)
    page = await extension.context.new_page()
    await page.goto(site.url())
    panel = await extension.open_panel(page)
    message = panel.get_by_role("textbox", name="Message")
    await message.wait_for()
    other = await extension.run("() => chrome.windows.create({focused: true}).then(({id}) => id)")
    while await extension.run("() => chrome.windows.getLastFocused().then(({id}) => id)") != other:
        await asyncio.sleep(0.05)
    await extension.run(SEND, [{"menuItemId": "send-selection", "selectionText": "iPhone 16"}, page.url])
    await expect(message).to_have_value(re.compile("> iPhone 16"))
