"""One task from the first word to the file on the disk, with each call approved by a person."""

import json

import pytest
from playwright.async_api import expect

TODOS = "# TODO\n\n- buy bread\n- test greet()\n"
STEPS = (
    ("", "glob", {"pattern": "**/*"}),
    ("", "grep", {"pattern": "TODO"}),
    ("", "read_file", {"path": "notes.md"}),
    ("I write them down.", "write_file", {"path": "TODO.md", "content": TODOS}),
)


@pytest.mark.spec("C1")
async def test_todos_of_a_folder_are_found_and_written_with_approvals(open_chat, tmp_path):
    """Four calls, each waits in its card until it is approved; the card of the last one shows what it wrote."""
    (tmp_path / "notes.md").write_text("TODO buy bread\n")
    (tmp_path / "hello.py").write_text("# TODO test greet()\n")
    chat = await open_chat("fs_tools", roots=[tmp_path])
    for number, (text, name, arguments) in enumerate(STEPS):
        chat.provider.say(text, (f"call-{number}", name, json.dumps(arguments)))
    chat.provider.say("Two TODOs are in `TODO.md` now.")
    await chat.say("find every TODO in this folder and write them into TODO.md")
    for number, (_, name, _) in enumerate(STEPS):
        await expect(chat.page.locator("ac-call-card")).to_have_count(number + 1)
        await expect(chat.card.get_by_role("button", name=name)).to_contain_text("waits for you")
        await chat.decide(approved=True)
    await expect(chat.shown.get_by_text("Two TODOs are in")).to_be_visible()
    assert (tmp_path / "TODO.md").read_text() == TODOS
