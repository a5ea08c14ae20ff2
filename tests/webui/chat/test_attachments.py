"""Files that go with a message: pasted, dragged, picked; seen before and after they are sent."""

import asyncio
import base64
import io
import json

import pytest
from PIL import Image
from playwright.async_api import expect

PASTE = """([name, type, data, text]) => {
  const transfer = new DataTransfer();
  transfer.items.add(new File([Uint8Array.from(atob(data), (one) => one.charCodeAt(0))], name, {type}));
  if (text) for (const kind of ['text/plain', 'text/html']) transfer.setData(kind, text);
  const deepest = (one) => (one.shadowRoot?.activeElement ? deepest(one.shadowRoot.activeElement) : one);
  const options = {clipboardData: transfer, bubbles: true, composed: true, cancelable: true};
  deepest(document.activeElement).dispatchEvent(new ClipboardEvent('paste', options));
}"""
DRAG = """(view, [type, name]) => {
  const transfer = new DataTransfer();
  transfer.items.add(new File(['dropped words'], name, {type: 'text/plain'}));
  view.dispatchEvent(new DragEvent(type, {dataTransfer: transfer, bubbles: true, composed: true, cancelable: true}));
}"""


def png(size=(40, 30)) -> bytes:
    data = io.BytesIO()
    Image.new("RGB", size, "teal").save(data, "PNG")
    return data.getvalue()


def attached(chat):
    """The files that go with the next message."""
    return chat.page.locator("ac-chat-composer").get_by_role("list", name="Attached files").get_by_role("listitem")


def sent(chat):
    return chat.shown.get_by_role("list", name="Attached files").get_by_role("button")


def opened(chat):
    """What a sent file shows when it is opened."""
    return chat.page.locator("ac-sent-attachments ac-dialog")


async def paste(chat, name="image.png", kind="image/png", data=None, text=""):
    await chat.box.focus()
    encoded = base64.b64encode(png() if data is None else data).decode()
    await chat.page.evaluate(PASTE, [name, kind, encoded, text])


async def test_picture_is_pasted_sent_seen_and_opened_after_a_reload(open_chat):
    chat = await open_chat()
    chat.provider.say("Teal.")
    await paste(chat)
    await expect(attached(chat)).to_contain_text(["image.png"])
    await expect(attached(chat).locator("img")).to_have_js_property("naturalWidth", 40)
    await expect(chat.page.get_by_text("1 file is attached")).to_be_attached()
    await chat.box.press("Enter")  # without a word: the picture says enough
    await expect(chat.shown.get_by_text("Teal.")).to_be_visible()
    assert "data:image/png;base64," in chat.provider.sent
    await expect(attached(chat)).to_have_count(0)
    await chat.page.reload()
    await expect(sent(chat).locator("img")).to_have_js_property("naturalWidth", 40)
    await sent(chat).press("Enter")
    dialog = chat.page.get_by_role("dialog", name="image.png")
    await expect(dialog).to_be_visible()
    await expect(opened(chat).get_by_role("img", name="image.png")).to_have_js_property("naturalWidth", 40)
    await chat.page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)


@pytest.mark.more
async def test_files_are_picked_and_dropped_and_one_is_taken_out_by_keyboard(open_chat):
    chat = await open_chat()
    chat.provider.say("Two texts.")
    async with chat.page.expect_file_chooser() as choosing:
        await chat.page.get_by_role("button", name="Attach files").press("Enter")
    await (await choosing.value).set_files(
        [
            {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"picked words"},
            {"name": "wrong.txt", "mimeType": "text/plain", "buffer": b"not these"},
        ]
    )
    view = chat.page.locator("ac-view-chats")
    await view.evaluate(DRAG, ["dragenter", "dropped.txt"])
    await expect(chat.page.get_by_text("Drop files to attach them")).to_be_visible()
    await view.evaluate(DRAG, ["drop", "dropped.txt"])
    await expect(chat.page.get_by_text("Drop files to attach them")).to_have_count(0)
    await expect(attached(chat)).to_contain_text(["notes.txt", "wrong.txt", "dropped.txt"])
    await chat.page.get_by_role("button", name="Remove wrong.txt").press("Enter")
    await expect(chat.page.get_by_role("button", name="Remove dropped.txt")).to_be_focused()
    await expect(chat.page.locator("ac-attachments progress")).to_have_count(0)
    await chat.say("What do they say?")
    await expect(chat.shown.get_by_text("Two texts.")).to_be_visible()
    assert "picked words" in chat.provider.sent
    assert "dropped words" in chat.provider.sent
    assert "not these" not in chat.provider.sent
    await sent(chat).first.click()
    await opened(chat).get_by_role("button", name="Open").click()
    await expect(opened(chat).get_by_text("picked words")).to_be_visible()


@pytest.mark.more
async def test_what_is_too_large_or_too_many_is_said_before_anything_is_sent(open_chat, tmp_path):
    chat = await open_chat()
    uploads = []
    chat.page.on("request", lambda request: uploads.append(request.url) if "/api/artifacts" in request.url else None)
    box = chat.page.locator("ac-chat-composer input[type=file]")
    film = tmp_path / "film.mp4"
    with film.open("wb") as file:
        file.truncate(40 * 1024 * 1024)
    await box.set_input_files(film)
    await expect(chat.page.get_by_text("film.mp4 has 40 MiB, and a file may have 32 MiB.")).to_be_visible()
    assert uploads == []
    await box.set_input_files([{"name": f"{n}.txt", "mimeType": "text/plain", "buffer": b"x"} for n in range(11)])
    await expect(chat.page.get_by_text("A message takes up to 10 files.")).to_be_visible()
    await expect(attached(chat)).to_have_count(10)


@pytest.mark.more
async def test_upload_that_fails_says_so_and_is_tried_again(open_chat):
    chat = await open_chat()
    chat.ui.allowed_errors.append("507")
    chat.provider.say("Got it.")
    error = {"type": "disk_full", "message": "the disk is full", "context": {}, "retryable": True}

    async def refuse(route):
        await route.fulfill(status=507, content_type="application/json", body=json.dumps({"ok": False, "error": error}))

    await chat.page.route("**/api/artifacts?*", refuse)
    await paste(chat)
    await expect(attached(chat)).to_contain_text(["the disk is full"])
    await chat.say("Look")
    await expect(chat.page.get_by_text("A file could not be uploaded: try it again, or remove it.")).to_be_visible()
    await chat.page.unroute("**/api/artifacts?*")
    await chat.page.get_by_role("button", name="Send image.png again").click()
    await expect(attached(chat)).not_to_contain_text(["the disk is full"])
    await expect(chat.page.locator("ac-attachments progress")).to_have_count(0)
    await chat.box.press("Enter")
    await expect(chat.shown.get_by_text("Got it.")).to_be_visible()


@pytest.mark.more
async def test_message_that_is_sent_before_its_file_is_uploaded_goes_out_with_it(open_chat):
    chat = await open_chat()
    chat.provider.say("Teal.")
    uploading, release = asyncio.Event(), asyncio.Event()

    async def delay_upload(route):
        uploading.set()
        await release.wait()
        await route.continue_()

    await chat.page.route("**/api/artifacts?*", delay_upload)
    await paste(chat)
    await uploading.wait()
    await chat.say("Which color?")
    note = chat.page.get_by_text("The message is sent as soon as its files are uploaded.")
    await expect(note).to_be_visible()
    await chat.box.press("End")
    await chat.box.type("?")  # editing cancels the pending message
    await expect(note).to_be_hidden()
    await chat.box.press("Enter")
    await expect(note).to_be_visible()
    release.set()
    await expect(chat.shown.get_by_text("Teal.")).to_be_visible()
    assert "data:image/png;base64," in chat.provider.sent
    assert "Which color??" in chat.provider.sent
    await expect(note).to_be_hidden()
    await expect(attached(chat)).to_have_count(0)


@pytest.mark.more
async def test_attachments_wait_with_the_draft_and_come_back_when_a_message_is_refused(open_chat):
    chat = await open_chat()
    chat.ui.allowed_errors.append("503")
    chat.provider.say("Now.")
    await paste(chat)
    await expect(chat.page.locator("ac-attachments progress")).to_have_count(0)
    await chat.page.reload()
    await expect(attached(chat)).to_contain_text(["image.png"])
    await chat.page.route("**/messages", lambda route: route.fulfill(status=503, body="away"))
    await chat.say("Look")
    await expect(chat.box).to_have_value("Look")
    await expect(attached(chat)).to_contain_text(["image.png"])
    await chat.page.unroute("**/messages")
    await chat.box.press("Enter")
    await expect(chat.shown.get_by_text("Now.")).to_be_visible()
    assert "data:image/png;base64," in chat.provider.sent


@pytest.mark.more
@pytest.mark.parametrize(("text", "files"), [("words of a table", 0), ("", 1)])
async def test_pasted_text_stays_text_though_a_picture_of_it_comes_along(open_chat, text, files):
    chat = await open_chat()
    await paste(chat, text=text)
    await expect(attached(chat)).to_have_count(files)


@pytest.mark.more
async def test_picture_that_the_provider_refuses_does_not_hold_up_the_chat_and_the_person_is_told(open_chat):
    chat = await open_chat()
    chat.provider.say(status=400, error={"error": {"message": "this model has no eyes"}})
    chat.provider.say("I know its name.")
    await paste(chat)
    await expect(attached(chat)).to_contain_text(["image.png"])
    await chat.say("What is this?")
    told = "The provider refused the request, perhaps because of an image (this model has no eyes)."
    await expect(chat.shown.get_by_text(told)).to_be_visible()
    await expect(chat.messages.last).to_contain_text("I know its name.")
    await expect(chat.shown.get_by_role("alert")).to_have_count(0)
    await chat.page.reload()
    await expect(chat.shown.get_by_text(told)).to_be_visible()
    assert "image.png" in chat.provider.sent


@pytest.mark.more
async def test_message_that_fails_after_another_chat_was_opened_comes_back_in_its_own(open_chat):
    chat = await open_chat()
    chat.ui.allowed_errors.append("503")
    chat.provider.say("Hello.")
    await chat.say("first")
    await expect(chat.messages.last).to_contain_text("Hello.")
    await chat.until_idle()
    await paste(chat)
    await expect(chat.page.locator("ac-attachments progress")).to_have_count(0)
    sending, release = asyncio.Event(), asyncio.Event()

    async def fail(route):
        sending.set()
        await release.wait()
        await route.fulfill(status=503, body="away")

    await chat.page.route("**/messages", fail)
    await chat.say("Look")
    await sending.wait()
    await chat.page.get_by_role("link", name="New chat").click()
    await expect(chat.page.get_by_role("heading", name="What shall we do?")).to_be_visible()
    release.set()
    await expect(chat.page.get_by_text("The message was not sent").first).to_be_visible()
    await expect(chat.box).to_have_value("")
    await expect(attached(chat)).to_have_count(0)
    await chat.page.get_by_role("link", name="first").click()
    await expect(chat.box).to_have_value("Look")
    await expect(attached(chat)).to_contain_text(["image.png"])
