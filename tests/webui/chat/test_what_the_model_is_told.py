"""What a model is told before the conversation: seen part by part, left out, written for one chat."""

import pytest
from playwright.async_api import expect

from tests.support.provider import accept_instructions

PHONE = {"width": 390, "height": 844}


def folder(tmp_path, text="Use tabs.\n"):
    root = tmp_path / "work"
    root.mkdir()
    if text:
        (root / "AGENTS.md").write_text(text)
    return (root,)


async def open_told(chat, name="What the model is told"):
    await chat.page.get_by_role("button", name=name).click()
    await expect(chat.page.get_by_role("dialog", name=name)).to_be_visible()
    # what stands in it is slotted: no descendant of the native dialog
    told = chat.page.locator("ac-chat-system")
    await expect(told.get_by_role("listitem").first).to_be_visible()
    return told


def system_of(request):
    return request["messages"][0]["content"]


@pytest.mark.spec("C3")
async def test_person_sees_the_parts_before_the_first_message_and_leaves_one_out(open_chat, tmp_path):
    """What was written stays in its box, and what is said then is told as it was shown."""
    chat = await open_chat(config={"agents": {"default": {"instructions": "Be brief."}}}, roots=folder(tmp_path))
    await chat.box.fill("hello")
    await accept_instructions(chat.ui.host)
    told = await open_told(chat)
    await told.get_by_label("Show the text: AGENTS.md").click()
    await expect(told.get_by_text("Use tabs.")).to_be_visible()
    await told.get_by_role("checkbox", name="Tell the model: AGENTS.md").uncheck()
    await expect(told.get_by_text("left out")).to_be_visible()
    await told.get_by_label("Instructions for this chat").fill("Talk like a pirate.")
    await told.get_by_role("button", name="Save").click()
    await expect(told.get_by_text("Saved.")).to_be_visible()
    await chat.page.keyboard.press("Escape")
    await expect(chat.box).to_have_value("hello")
    chat.provider.say("Ahoy.", sent=4000, cached=3900)
    await chat.box.press("Enter")
    await expect(chat.messages.last).to_contain_text("Ahoy.")
    system = system_of(chat.provider.requests[0])
    assert "Talk like a pirate." in system
    assert "Be brief." not in system
    assert "Use tabs." not in system
    await chat.until_idle()
    told = await open_told(chat)
    await expect(told.get_by_text("4,000 tokens sent, 3,900 of them kept by the provider")).to_be_visible()
    await told.get_by_role("button", name="Take the agent’s again").click()
    await expect(told.get_by_label("Instructions for this chat")).to_have_value("Be brief.")


@pytest.mark.spec("C3", "P2")
async def test_person_sees_what_a_chat_began_with_as_it_was_sent(open_chat):
    chat = await open_chat()
    pantry = chat.pantry.runtime
    untrusted = (
        "Saved after content from outside was read (in brackets), and not confirmed by the person:\nsoup (web_fetch)"
    )
    pantry.tell_new_chats("pantry_list", "Memories of earlier chats:\nbread\nsalt", untrusted=untrusted)
    chat.provider.say("Ahoy.")
    await chat.box.fill("hello")
    await chat.box.press("Enter")
    await expect(chat.messages.last).to_contain_text("Ahoy.")
    await chat.until_idle()
    pantry.tell_new_chats("pantry_list", "Nothing.")
    told = await open_told(chat)
    part = told.get_by_role("listitem").filter(has_text="What it knew when this chat began")
    await part.get_by_label("Show the text: pantry").click()
    text = await part.locator("pre").inner_text()
    assert "soup (web_fetch)\n</untrusted" in text
    assert text in system_of(chat.provider.requests[0])


@pytest.mark.more
async def test_it_is_accessible_and_nothing_runs_over_on_a_phone(open_chat, axe_problems, tmp_path):
    roots = folder(tmp_path, f"# Rules\n{'long-word-' * 60}\n" + "Keep lines short.\n" * 2000)
    chat = await open_chat(viewport=PHONE, locale="zh-CN", roots=roots)
    await accept_instructions(chat.ui.host)
    told = await open_told(chat, "告诉模型的内容")
    await told.get_by_label("显示文本: AGENTS.md").click()
    assert await axe_problems(chat.page) == []
    assert await chat.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
