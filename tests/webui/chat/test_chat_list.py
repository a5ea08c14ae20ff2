"""The list of chats: found, named, deleted; and the way to a model where there is none."""

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


async def test_address_of_a_chat_that_is_not_there_says_so(open_chat):
    chat = await open_chat()
    chat.ui.allowed_errors.append("404")
    await chat.page.goto(f"{chat.ui.address}/#/chats/s_nothing")
    await expect(chat.page.get_by_role("heading", name="This chat is not there")).to_be_visible()


async def test_first_prompt_is_put_into_the_box_and_not_sent(open_chat):
    chat = await open_chat()
    await chat.page.get_by_role("button", name="Which tools do you have").click()
    await expect(chat.box).to_have_value("Which tools do you have, and what can they do for me?")
    await expect(chat.box).to_be_focused()
    assert chat.provider.requests == []
