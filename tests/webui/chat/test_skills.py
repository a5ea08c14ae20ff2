"""Skills in a chat: named with a slash in the message box, and left out of what the model is told."""

import asyncio

import pytest
from playwright.async_api import expect

from tests.support.provider import accept_instructions


@pytest.fixture
def roots(tmp_path, monkeypatch):
    monkeypatch.setattr("agentcore.chat.skills.skills.user_folder", lambda: tmp_path / "own")
    for name, text in {"pdf-forms": "Fills forms in PDF files.", "csv": "Cleans CSV files."}.items():
        folder = tmp_path / "work" / "skills" / name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {text}\n---\nLook first.\n")
    return (tmp_path / "work",)


async def test_skill_is_completed_and_goes_along_with_the_message(open_chat, roots):
    chat = await open_chat(roots=roots)
    await accept_instructions(chat.ui.host)
    chat.provider.say("Done.")
    await chat.box.press_sequentially("/pdf")
    option = chat.page.get_by_role("option", name="pdf-forms")
    await expect(option).to_contain_text("Skill Fills forms in PDF files.")
    await chat.box.press("Enter")
    await expect(chat.box).to_have_value("/pdf-forms ")
    await expect(chat.page.get_by_role("button", name="Send")).to_be_visible()
    await chat.box.press_sequentially("fill in my form")
    await chat.box.press("Enter")
    await expect(chat.messages.last).to_contain_text("Done.")
    await expect(chat.page.get_by_text("/pdf-forms fill in my form").first).to_be_visible()
    await expect(chat.page.get_by_text("Look first.")).to_have_count(0)
    said = chat.provider.requests[0]["messages"][-1]["content"]
    assert said.startswith("/pdf-forms fill in my form\n\nThe person wants you to use this skill")
    assert "Look first." in said


@pytest.mark.more
async def test_skill_is_left_out_of_one_chat(open_chat, roots):
    chat = await open_chat(roots=roots)
    await accept_instructions(chat.ui.host)
    chat.provider.say("Hi.")
    await chat.page.get_by_role("button", name="What the model is told").click()
    told = chat.page.locator("ac-chat-system")
    item = told.get_by_role("listitem").filter(has_text="Begin a message with /pdf-forms to use it.")
    answering = asyncio.Event()

    async def delay_patch(route):
        if route.request.method == "PATCH":
            await answering.wait()
        await route.continue_()

    await chat.page.route("**/system", delay_patch)
    await item.get_by_role("checkbox").click()
    await expect(item).to_contain_text("left out")
    await chat.page.keyboard.press("Escape")
    await chat.say("hello")
    await expect(chat.box).to_have_value("")
    assert chat.provider.requests == []  # a message waits until what was chosen before it holds
    answering.set()
    await expect(chat.messages.last).to_contain_text("Hi.")
    assert "pdf-forms" not in chat.provider.requests[0]["messages"][0]["content"]


@pytest.mark.more
async def test_message_is_not_sent_where_a_choice_before_it_failed(open_chat, roots):
    chat = await open_chat(roots=roots)
    await accept_instructions(chat.ui.host)
    chat.ui.allowed_errors.append("503")
    failing = asyncio.Event()

    async def fail(route):
        if route.request.method == "PATCH":
            await failing.wait()
            await route.fulfill(status=503, json={"error": {"type": "unavailable", "message": "Not now."}})
        else:
            await route.continue_()

    await chat.page.route("**/system", fail)
    await chat.page.get_by_role("button", name="What the model is told").click()
    told = chat.page.locator("ac-chat-system")
    item = told.get_by_role("listitem").filter(has_text="Begin a message with /pdf-forms to use it.")
    await item.get_by_role("checkbox").click()
    await expect(item).to_contain_text("left out")
    await chat.page.keyboard.press("Escape")
    await chat.say("hello")
    await expect(chat.box).to_have_value("")
    failing.set()
    await expect(chat.box).to_have_value("hello")
    assert chat.provider.requests == []
    listed = await (await chat.ui.server.get("/api/sessions")).json()
    assert len(listed["sessions"]) == 1
