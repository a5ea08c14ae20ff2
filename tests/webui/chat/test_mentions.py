"""Files of the workspace, mentioned in a message by a few letters behind an `@`."""

from playwright.async_api import expect


async def test_file_is_mentioned_by_keyboard_as_the_path_that_tools_take(open_chat, tmp_path):
    for name in ("docs/plan.md", "docs/a note.txt", "src/app.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    chat = await open_chat(roots=[tmp_path])
    chat.provider.say("I see.")
    options = chat.page.get_by_role("listbox", name="Suggestions").get_by_role("option")
    await chat.box.press_sequentially("compare @dopl")
    await expect(options).to_have_text(["docs/plan.md"])
    await chat.box.press("Enter")
    await expect(chat.box).to_have_value("compare docs/plan.md ")
    await chat.box.press_sequentially("with @docs")
    await expect(options.first).to_have_text("docs/")
    await chat.box.press("Enter")
    await expect(chat.box).to_have_value("compare docs/plan.md with @docs/")
    await expect(options.filter(has_text="docs/a note.txt")).to_be_visible()
    await chat.box.press_sequentially("note")
    await expect(options).to_have_text(["docs/a note.txt"])
    await options.click()
    await expect(chat.box).to_have_value('compare docs/plan.md with "docs/a note.txt" ')
    await chat.box.press_sequentially("me@example.org")
    await expect(options).to_have_count(0)
    await chat.box.press("Enter")
    await expect(chat.shown.get_by_text("I see.")).to_be_visible()
