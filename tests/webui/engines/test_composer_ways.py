"""The message box in each engine: files that go along, files that are mentioned."""

import pytest

from tests.webui.engines.chatting import open_chat, provider

__all__ = ["open_chat", "provider"]

pytestmark = pytest.mark.spec("W1")

BRING = """([kinds, name, type, data]) => {
  const deepest = (one) => (one.shadowRoot?.activeElement ? deepest(one.shadowRoot.activeElement) : one);
  const files = new DataTransfer();
  files.items.add(new File([Uint8Array.from(atob(data), (one) => one.charCodeAt(0))], name, {type}));
  for (const kind of kinds) {
    const event = new Event(kind, {bubbles: true, composed: true, cancelable: true});
    Object.assign(event, {clipboardData: files, dataTransfer: files});
    deepest(document.activeElement).dispatchEvent(event);
  }
}"""
"""No driver pastes or drags files: these are the events that a browser makes of it."""
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
"""A PNG of one pixel."""


async def test_picture_is_pasted_seen_sent_and_opened_and_the_focus_comes_back(open_chat):
    chat = await open_chat()
    chat.provider.say("One pixel.")
    await chat.box.click()
    await chat.page.evaluate(BRING, [["paste"], "image.png", "image/png", PICTURE])
    await chat.page.role("button", "Remove image.png").seen()
    await chat.page.role("list", "Attached files").css("img").holds(1, "naturalWidth")
    await chat.page.role("progressbar", "").gone()
    await chat.page.press("Enter")
    await chat.messages.last.says("One pixel.")
    assert "data:image/png;base64," in chat.provider.sent
    sent = chat.messages.role("list", "Attached files").role("button", "image.png")
    await sent.focus()
    await chat.page.press("Enter")
    dialog = chat.page.role("dialog", "image.png")
    await dialog.role("img", "image.png").holds(1, "naturalWidth")
    await chat.page.press("Escape")
    await dialog.gone()
    await sent.until_focused()


async def test_picture_is_dropped_and_sent(open_chat):
    chat = await open_chat()
    chat.provider.say("One pixel.")
    await chat.box.click()
    await chat.page.evaluate(BRING, [["dragenter"], "image.png", "image/png", PICTURE])
    await chat.page.text("Drop files to attach them").seen()
    await chat.page.evaluate(BRING, [["drop"], "image.png", "image/png", PICTURE])
    await chat.page.text("Drop files to attach them").gone()
    await chat.page.role("button", "Remove image.png").seen()
    await chat.page.role("progressbar", "").gone()
    await chat.page.press("Enter")
    await chat.messages.last.says("One pixel.")
    assert "data:image/png;base64," in chat.provider.sent


async def test_files_are_picked_and_one_is_taken_out_by_keyboard(open_chat, tmp_path):
    files = [tmp_path / name for name in ("first.txt", "wrong.txt", "last.txt")]
    for file in files:
        file.write_text(f"words of {file.stem}")
    chat = await open_chat()
    chat.provider.say("Two texts.")
    await chat.page.css("ac-chat-composer").css("input[type=file]", is_hidden=True).pick(*files)
    await chat.box.until_focused()
    await chat.page.role("button", "Remove wrong.txt").focus()
    await chat.page.press("Enter")
    await chat.page.role("button", "Remove wrong.txt").gone()
    await chat.page.role("button", "Remove last.txt").until_focused()
    await chat.page.role("progressbar", "").gone()
    await chat.say("What do they say?")
    await chat.messages.last.says("Two texts.")
    assert "words of first" in chat.provider.sent
    assert "words of last" in chat.provider.sent
    assert "words of wrong" not in chat.provider.sent


async def test_file_is_mentioned_by_keyboard_as_the_path_that_tools_take(open_chat, tmp_path):
    for name in ("docs/plan.md", "docs/a note.txt", "src/app.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    chat = await open_chat(roots=[tmp_path])
    chat.provider.say("I see.")
    options = chat.page.role("option")
    await chat.box.click()
    await chat.page.type("compare @dopl")
    await options.says("docs/plan.md")
    await chat.page.press("Enter")
    await chat.box.holds("compare docs/plan.md ")
    await chat.page.type("with @docs")
    await options.says("docs/")
    await options.counts(3)
    await chat.page.press("ArrowUp")
    await chat.page.role("option", "docs/a note.txt").has("aria-selected", "true")
    await chat.page.press("Tab")
    await chat.box.holds('compare docs/plan.md with "docs/a note.txt" ')
    await chat.page.type("@app")
    await options.says("src/app.py")
    await chat.page.press("Escape")
    await options.gone()
    await chat.box.until_focused()
    await chat.page.press("Enter")
    await chat.messages.last.says("I see.")
