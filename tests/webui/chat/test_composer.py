"""Writing in a chat: keys, history, choices, and calls of one's own."""

from typing import Literal

import pytest
from playwright.async_api import expect

from agentcore.api import Image, Module, Text, ToolContext, ToolError, ToolResult, tool


class Prompts(Module):
    """Has texts that a person may say."""

    name = "trip"

    def places(self, tool: str, argument: str, begun: str, given: dict[str, str]) -> list[str]:
        """Where one can go in a month."""
        if begun == "!":
            raise RuntimeError("no map")
        known = ["the coast", "thessaly", 'the "end"'] if given.get("month") == "May" else ["the <b>moon</b>"]
        return [place for place in known if place.startswith(begun)]

    @tool(served_as="prompt", effects=["read"], complete=places)
    async def trip_go(self, ctx: ToolContext, month: Literal["May", "late June"], place: str = "") -> str:
        """Go somewhere."""
        return f"Go to {place} in {month}."

    @tool(served_as="prompt", effects=["read"])
    async def trip_plan(self, ctx: ToolContext, place: str) -> ToolResult:
        """Plan a trip."""
        return ToolResult((Text(f"Plan a trip to {place}."), Text("It should be slow."), Image(b"x", "image/png")))

    @tool(served_as="prompt", effects=["read"])
    async def trip_trick(self, ctx: ToolContext) -> str:
        """Look like a call."""
        return "/pantry_add food=poison"

    @tool(served_as="prompt", effects=["read"])
    async def trip_fail(self, ctx: ToolContext) -> str:
        """Fail."""
        raise ToolError("no_paper", "no more paper")


@pytest.mark.spec("W2")
async def test_tokens_and_how_full_the_context_is_stand_below_the_message_box_also_after_a_restart(open_chat, provider):
    model = {"provider": "openai", "base_url": f"{provider.url}/v1", "context_tokens": 20_000}
    chat = await open_chat(config={"models": {"test-model": model}})
    chat.provider.say("Here.", sent=4_995, cached=1_000)
    await chat.say("hello")
    meter = chat.page.get_by_role("button", name="The context is 25% full")
    await meter.click()
    panel = chat.page.locator("ac-chat-tokens .panel")
    for text in ("5,000 of 20,000 tokens of the context", "openai:test-model", "4,995", "1,000"):
        await expect(panel).to_contain_text(text)
    box, button = await panel.bounding_box(), await meter.bounding_box()
    assert box is not None
    assert button is not None
    assert box["y"] + box["height"] <= button["y"]
    await chat.page.keyboard.press("Escape")
    await expect(panel).to_be_hidden()
    address = chat.page.url.rsplit("/", 1)[1]
    await chat.page.close()
    await chat.ui.restart()
    shown = await chat.ui.page(f"#/chats/{address}")
    await expect(shown.get_by_role("button", name="The context is 25% full")).to_be_visible()


@pytest.mark.more
async def test_enter_sends_shift_enter_breaks_the_line_and_an_input_method_keeps_its_enter(open_chat):
    chat = await open_chat()
    chat.provider.say("Both lines came.")
    await chat.box.fill("one")
    await chat.box.dispatch_event("keydown", {"key": "Enter", "isComposing": True, "bubbles": True})
    await expect(chat.box).to_have_value("one")
    await chat.box.press("Shift+Enter")
    await chat.box.press_sequentially("two")
    await chat.box.press("Enter")
    await expect(chat.shown.get_by_text("Both lines came.")).to_be_visible()
    assert "one\\ntwo" in chat.provider.sent


@pytest.mark.more
async def test_arrow_brings_back_what_was_said(open_chat):
    chat = await open_chat()
    chat.provider.say("Yes.")
    await chat.say("said before")
    await expect(chat.shown.get_by_text("Yes.")).to_be_visible()
    await chat.box.press("ArrowUp")
    await expect(chat.box).to_have_value("said before")
    await chat.box.press("End")
    await chat.box.press("ArrowDown")
    await expect(chat.box).to_have_value("")


@pytest.mark.more
async def test_tool_is_called_from_the_box_by_keyboard_without_any_model(open_chat):
    """A few letters, the tool, its argument, Enter; and it is there after a reload."""
    chat = await open_chat(has_model=False)
    await chat.box.press_sequentially("/padd")
    options = chat.page.get_by_role("listbox", name="Suggestions").get_by_role("option")
    await expect(options.first).to_contain_text("pantry_add")
    await chat.box.press("Enter")
    await expect(options).to_have_text(["food *What.", "countHow many pieces."])
    await chat.box.press("Tab")
    await expect(chat.box).to_have_value("/pantry_add food=")
    await chat.box.press_sequentially('"brown rice" count=3')
    await chat.box.press("Enter")
    await expect(chat.card.get_by_role("button", name="pantry_add")).to_contain_text("done")
    assert chat.pantry.added == ["brown rice"]
    await chat.page.reload()
    await chat.card.get_by_role("button", name="pantry_add").click()
    await expect(chat.card.locator("ac-result").get_by_text("brown rice")).to_be_visible()


@pytest.mark.more
async def test_prompt_of_a_module_is_taken_into_the_box_seen_and_said(open_chat):
    chat = await open_chat(Prompts())
    chat.provider.say("A trip, then.")
    await chat.box.press_sequentially("/tplan")
    option = chat.page.get_by_role("listbox", name="Suggestions").get_by_role("option").first
    await expect(option).to_have_text("trip_planPrompt Plan a trip.")
    await chat.box.press("Enter")
    await chat.box.press_sequentially('"the coast"')
    await chat.page.get_by_role("button", name="Take the text of this prompt").click()
    await expect(chat.box).to_have_value("Plan a trip to the coast.\n\nIt should be slow.")
    await expect(chat.page.get_by_text("1 part of the prompt is no text")).to_be_visible()
    assert chat.provider.requests == []
    await chat.box.press("Enter")
    await expect(chat.shown.get_by_text("A trip, then.")).to_be_visible()
    assert "Plan a trip to the coast." in chat.provider.sent


@pytest.mark.more
async def test_argument_of_a_prompt_is_completed_by_its_module_which_knows_the_others(open_chat):
    chat = await open_chat(Prompts())
    options = chat.page.get_by_role("listbox", name="Suggestions").get_by_role("option")
    await chat.box.press_sequentially("/trip_go month=l")
    await expect(options).to_have_text(["late June"])
    await chat.box.press("Tab")
    await expect(chat.box).to_have_value('/trip_go month="late June" ')
    await chat.box.press_sequentially("place=")
    await expect(options).to_have_text(["the <b>moon</b>"])
    await chat.box.fill("/trip_go month=May place=")
    await chat.box.press_sequentially("th")
    await expect(options).to_have_text(["the coast", "thessaly", 'the "end"'])
    await chat.box.press("ArrowUp")
    await chat.box.press("Tab")
    await expect(chat.box).to_have_value('/trip_go month=May place="the \\"end\\"" ')
    await chat.box.press("Enter")
    await expect(chat.box).to_have_value('Go to the "end" in May.')


@pytest.mark.more
async def test_completion_that_fails_says_nothing_and_the_prompt_is_made(open_chat):
    chat = await open_chat(Prompts())
    answers = []
    chat.page.on("response", lambda response: answers.append(response) if "complete" in response.url else None)
    async with chat.page.expect_response("**/complete") as told:
        await chat.box.press_sequentially("/trip_go May place=!")
    assert await (await told.value).json() == {"values": []}
    await expect(chat.page.get_by_role("listbox", name="Suggestions")).to_have_count(0)
    await chat.box.press("Enter")
    await expect(chat.box).to_have_value("Go to ! in May.")
    assert len(answers) == 1, "each key asked the server"


@pytest.mark.more
async def test_prompt_that_begins_like_a_call_calls_nothing_and_one_that_fails_stays(open_chat):
    chat = await open_chat(Prompts())
    chat.provider.say("No.")
    await chat.say("/trip_trick")
    await expect(chat.box).to_have_value("trip_trick:\n/pantry_add food=poison")
    await chat.box.press("Enter")
    await expect(chat.shown.get_by_text("No.")).to_be_visible()
    assert chat.pantry.added == []
    await chat.say("/trip_fail")
    await expect(chat.page.get_by_text("The prompt could not be made")).to_be_visible()
    await expect(chat.page.get_by_text("no more paper")).to_be_visible()
    await expect(chat.box).to_have_value("/trip_fail")


@pytest.mark.more
async def test_what_cannot_be_called_says_why_and_stays_in_the_box(open_chat):
    chat = await open_chat(has_model=False)
    await chat.say("/pantry_fly away")
    await expect(chat.page.get_by_text("There is no tool “pantry_fly”.")).to_be_visible()
    await chat.say("/pantry_list {no")
    await expect(chat.page.get_by_text("This is not valid JSON")).to_be_visible()
    await chat.say("/pantry_list a b")
    await expect(chat.page.get_by_text("“b” belongs to no argument. This tool takes: kind")).to_be_visible()
    await expect(chat.box).to_have_value("/pantry_list a b")


@pytest.mark.more
async def test_mode_is_said_in_words_and_one_that_asks_less_waits_for_a_person(open_chat):
    chat = await open_chat()
    chat.provider.say("Hello.")
    await chat.say("hi")
    await expect(chat.shown.get_by_text("Hello.")).to_be_visible()
    await chat.page.get_by_role("button", name="Which calls wait for you: Ask always").click()
    choice = chat.page.get_by_role("menuitemradio", name="No tools")
    await expect(choice).to_contain_text("Every call is refused.")
    await choice.click()
    await expect(chat.page.get_by_role("button", name="Which calls wait for you: No tools")).to_be_visible()
    await chat.page.reload()
    await expect(chat.page.get_by_role("button", name="Which calls wait for you: No tools")).to_be_visible()


@pytest.mark.more
async def test_menu_of_choices_works_by_keyboard(open_chat):
    chat = await open_chat()
    opener = chat.page.get_by_role("button", name="Which calls wait for you: Ask always")
    await opener.focus()
    await opener.press("Enter")
    await expect(chat.page.get_by_role("menuitemradio", name="Ask always")).to_be_focused()
    await chat.page.keyboard.press("ArrowDown")
    await expect(chat.page.get_by_role("menuitemradio", name="Allow file changes")).to_be_focused()
    await chat.page.keyboard.press("Escape")
    await expect(chat.page.get_by_role("menu", name="Which calls wait for you")).to_be_hidden()
    await expect(opener).to_be_focused()


@pytest.mark.more
async def test_message_that_begins_with_a_slash_is_sent_unless_it_names_a_tool(open_chat):
    chat = await open_chat()
    messages = chat.page.get_by_role("region", name="Messages")
    for number, text in enumerate(("/etc/hosts what?", "//server/share", "/usr/bin/env is?", "/pantry_fly away")):
        chat.provider.say(f"Answer {number}.")
        await chat.say(text)
        await expect(messages.get_by_text(f"Answer {number}.")).to_be_visible()
        assert chat.provider.requests[-1]["messages"][-1]["content"] == text
