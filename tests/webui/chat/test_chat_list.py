"""The list of chats: found, named, deleted; and the way to a model where there is none."""

import pytest
from playwright.async_api import expect


async def begin(chat, text, answer):
    chat.provider.say(answer)
    await chat.say(text)
    await expect(chat.shown.get_by_text(answer)).to_be_visible()
    await chat.until_idle()


async def test_chats_are_found_by_what_was_said_in_them(open_chat):
    chat = await open_chat()
    await begin(chat, "about harbours", "The lighthouse is open.")
    await chat.page.get_by_role("link", name="New chat").first.click()
    await expect(chat.page.get_by_role("heading", name="What shall we do?")).to_be_visible()
    await begin(chat, "about bread", "Flour and water.")
    names = chat.page.locator("ac-chat-sessions li a")
    await expect(names).to_have_text(["about bread", "about harbours"])
    await chat.page.get_by_role("searchbox", name="Search chats").fill("lighthouse")
    await expect(names).to_have_text(["about harbours"])
    await names.first.click()
    await expect(chat.shown.get_by_text("The lighthouse is open.")).to_be_visible()
    await chat.page.get_by_role("searchbox", name="Search chats").fill("zzzz")
    await expect(chat.page.get_by_text("Nothing was found for “zzzz”.")).to_be_visible()


@pytest.mark.more
async def test_chat_is_renamed_in_place_and_deleted_after_a_question(open_chat):
    chat = await open_chat()
    await begin(chat, "hello", "Good day.")
    await chat.page.get_by_role("link", name="hello").hover()
    await chat.page.get_by_role("button", name="Rename “hello”").click()
    field = chat.page.get_by_role("textbox", name="Rename")
    await field.fill("Greetings")
    await field.press("Enter")
    link = chat.page.get_by_role("link", name="Greetings")
    await expect(link).to_be_visible()
    await chat.page.reload()
    await link.hover()
    await chat.page.get_by_role("button", name="Delete “Greetings”").click()
    await chat.page.locator("ac-confirm").get_by_role("button", name="Delete").click()
    await expect(chat.page.get_by_text("Your chats will appear here.")).to_be_visible()
    await expect(chat.page.get_by_role("heading", name="What shall we do?")).to_be_visible()


@pytest.mark.more
async def test_address_of_a_chat_that_is_not_there_says_so(open_chat):
    chat = await open_chat()
    chat.ui.allowed_errors.append("404")
    await chat.page.goto(f"{chat.ui.address}/#/chats/s_nothing")
    await expect(chat.page.get_by_role("heading", name="This chat is not there")).to_be_visible()


@pytest.mark.more
async def test_first_prompt_is_put_into_the_box_and_not_sent(open_chat):
    chat = await open_chat()
    await chat.page.get_by_role("button", name="Which tools do you have").click()
    await expect(chat.box).to_have_value("Which tools do you have, and what can they do for me?")
    await expect(chat.box).to_be_focused()
    assert chat.provider.requests == []


@pytest.mark.more
async def test_new_chat_puts_the_focus_into_the_message_box(open_chat):
    chat = await open_chat()
    await begin(chat, "hello", "Good day.")
    await chat.page.get_by_role("link", name="New chat").first.click()
    await expect(chat.page.get_by_role("heading", name="What shall we do?")).to_be_visible()
    await expect(chat.box).to_be_focused()
    await chat.page.get_by_role("searchbox", name="Search chats").focus()
    await chat.page.get_by_role("link", name="New chat").first.click()
    await expect(chat.box).to_be_focused()


@pytest.mark.more
async def test_drafts_are_those_of_their_chats_and_survive_a_reload(open_chat):
    chat = await open_chat()
    await begin(chat, "hello", "Good day.")
    await chat.box.fill("to the first")
    await chat.page.get_by_role("link", name="New chat").first.click()
    await expect(chat.box).to_have_value("")
    await chat.box.fill("to a new one")
    await chat.page.reload()
    await expect(chat.box).to_have_value("to a new one")
    await chat.page.get_by_role("link", name="hello").click()
    await expect(chat.box).to_have_value("to the first")


@pytest.mark.more
async def test_each_chat_is_one_stop_of_the_keyboard_and_has_keys(open_chat):
    chat = await open_chat()
    for text in ("first", "second"):
        await begin(chat, text, f"Answer to the {text}.")
        await chat.page.get_by_role("link", name="New chat").first.click()
    second, first = (chat.page.get_by_role("link", name=name, exact=True) for name in ("second", "first"))
    await second.focus()
    await chat.page.keyboard.press("Tab")
    await expect(first).to_be_focused()
    await chat.page.keyboard.press("F2")
    await chat.page.get_by_role("textbox", name="Rename").fill("third")
    await chat.page.keyboard.press("Enter")
    renamed = chat.page.get_by_role("link", name="third", exact=True)
    await expect(renamed).to_be_focused()
    await chat.page.keyboard.press("Delete")
    await chat.page.locator("ac-confirm").get_by_role("button", name="Delete").click()
    await expect(renamed).to_have_count(0)


@pytest.mark.more
async def test_chats_that_end_or_fail_while_another_is_open_are_marked_until_they_are_opened(open_chat):
    chat = await open_chat()
    sessions = [await (await chat.ui.server.post("/api/sessions", json={})).json() for _ in range(2)]
    for session, title in zip(sessions, ("good", "bad"), strict=True):
        await chat.ui.server.patch(f"/api/sessions/{session['sessionId']}", json={"title": title})
    good, bad = (chat.page.locator("ac-chat-sessions .session", has_text=name) for name in ("good", "bad"))
    await expect(bad).to_be_visible()
    for session, reply in zip(
        sessions, ({"text": "Done."}, {"status": 400, "error": {"error": {"message": "no"}}}), strict=True
    ):
        chat.provider.say(**reply)
        await chat.ui.server.post(f"/api/sessions/{session['sessionId']}/messages", json={"text": "go"})
        await expect(chat.page.locator("ac-chat-sessions .mark").first).to_be_visible()
        await expect(chat.page.locator("ac-chat-sessions").get_by_title("The model is answering")).to_have_count(0)
    await expect(good.get_by_title("Answered")).to_be_visible()
    await expect(bad.get_by_title("The answer failed")).to_be_visible()
    await chat.page.reload()
    await expect(bad.get_by_title("The answer failed")).to_be_visible()
    await bad.get_by_role("link").click()
    await expect(bad.get_by_title("The answer failed")).to_have_count(0)
    await expect(good.get_by_title("Answered")).to_be_visible()
