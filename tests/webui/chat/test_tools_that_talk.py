"""What tools do with a chat, as the page shows it: questions, things to do, agents of their own, progress."""

import asyncio

import pytest
from playwright.async_api import expect

from agentcore.api import Module, ToolContext, tool

ALLOW = {"approvals": {"mode": "allow"}}

ORDER = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Your name", "minLength": 2},
        "drink": {
            "type": "string",
            "title": "Drink",
            "oneOf": [{"const": "t", "title": "Green tea"}, {"const": "c", "title": "Black coffee"}],
        },
        "cups": {"type": "integer", "title": "Cups", "minimum": 1, "default": 2},
        "with": {"type": "array", "title": "With it", "items": {"type": "string", "enum": ["milk", "sugar"]}},
        "here": {"type": "boolean", "title": "To have here"},
    },
    "required": ["name", "drink"],
}


class Helper(Module):
    """Uses the chat that it is called from."""

    name = "helper"

    def __init__(self) -> None:
        self.release = asyncio.Event()
        self.shop = "http://127.0.0.1"

    @tool(effects=["read"])
    async def helper_order(self, ctx: ToolContext) -> dict:
        """Have an order filled in."""
        return await ctx.ask("What may it be?", schema=ORDER)

    @tool(effects=["read"])
    async def helper_pay(self, ctx: ToolContext) -> str:
        """Have it paid for."""
        await ctx.ask("Pay for the order.", url=f"{self.shop}/pay?order=7")
        return "paid"

    @tool(effects=["read"])
    async def helper_repeat(self, ctx: ToolContext) -> str:
        """Have a text of somebody else's written."""
        return await ctx.sample("Write a poem about tea.", is_shown_first=True)

    @tool(effects=["read"])
    async def helper_ask(self, ctx: ToolContext) -> str:
        """Ask the person for a colour."""
        return await ctx.ask("Which colour?", ["red", "blue"])

    @tool(effects=["read"])
    async def helper_plan(self, ctx: ToolContext, steps: list[str]) -> str:
        """Lay down what is to do; the first step is done."""
        states = ["completed", "in_progress", *["pending"] * len(steps)]
        await ctx.session.set_todos(
            [{"text": step, "status": state} for step, state in zip(steps, states, strict=False)]
        )
        return "planned"

    @tool(effects=["read"])
    async def helper_work(self, ctx: ToolContext) -> str:
        """Work until it is let go."""
        ctx.progress(0.5, "half of it")
        await self.release.wait()
        return "worked"

    @tool(effects=["execute"], timeout_s=600)
    async def helper_delegate(self, ctx: ToolContext, prompt: str) -> str:
        """Have an agent do it."""
        return await ctx.run_agent(prompt, ["pantry_*"])


async def test_question_of_a_tool_is_answered_in_place_also_after_a_reload(open_chat):
    chat = await open_chat(Helper(), config=ALLOW)
    chat.provider.say("", ("a", "helper_ask", "{}"))
    chat.provider.say("Blue it is.")
    await chat.say("paint")
    question = chat.page.get_by_role("region", name="A question for you")
    await expect(question).to_contain_text("Which colour?")
    await chat.page.reload()
    await question.get_by_role("button", name="blue").click()
    await expect(chat.shown.get_by_text("Blue it is.")).to_be_visible()
    await expect(question).to_have_count(0)
    assert "blue" in chat.provider.sent


@pytest.mark.more
async def test_answer_in_own_words_reaches_the_tool(open_chat):
    chat = await open_chat(Helper(), config=ALLOW)
    chat.provider.say("", ("a", "helper_ask", "{}"))
    chat.provider.say("Fine.")
    await chat.say("paint")
    answer = chat.page.get_by_role("textbox", name="Your answer")
    await answer.fill("a warm green")
    await answer.press("Enter")
    await expect(chat.shown.get_by_text("Fine.")).to_be_visible()
    assert "a warm green" in chat.provider.sent


@pytest.mark.more
async def test_form_of_a_tool_is_filled_in(open_chat):
    chat = await open_chat(Helper(), config=ALLOW)
    chat.provider.say("", ("a", "helper_order", "{}"))
    chat.provider.say("On its way.")
    await chat.say("order")
    question = chat.page.get_by_role("region", name="A question for you")
    await expect(question).to_contain_text("What may it be?")
    await question.get_by_role("button", name="Answer").click()
    await expect(question.get_by_role("textbox", name="Your name")).to_be_focused()
    await question.get_by_role("textbox", name="Your name").fill("Ada")
    await question.get_by_text("Black coffee").click()
    await question.get_by_text("sugar").click()
    await question.get_by_role("button", name="Answer").click()
    await expect(chat.shown.get_by_text("On its way.")).to_be_visible()
    await expect(question).to_have_count(0)
    for said in ('\\"name\\": \\"Ada\\"', '\\"drink\\": \\"c\\"', '\\"cups\\": 2', '[\\"sugar\\"]'):
        assert said.replace(" ", "") in chat.provider.sent.replace(" ", "")


@pytest.mark.more
async def test_form_can_be_declined_and_a_message_meanwhile_is_no_answer_to_it(open_chat):
    chat = await open_chat(Helper(), config=ALLOW)
    chat.provider.say("", ("a", "helper_order", "{}"))
    chat.provider.say("Then not.")
    await chat.say("order")
    question = chat.page.get_by_role("region", name="A question for you")
    await expect(question).to_be_visible()
    await expect(chat.box).to_have_attribute("placeholder", "Write a message, / for tools, @ for files")
    await question.get_by_role("button", name="Decline").click()
    await expect(chat.shown.get_by_text("Then not.")).to_be_visible()
    assert "declined to answer" in chat.provider.sent


@pytest.mark.more
async def test_address_is_opened_by_a_click_in_a_tab_that_does_not_know_the_page(open_chat):
    helper = Helper()
    chat = await open_chat(helper, config=ALLOW)
    helper.shop = chat.provider.url
    chat.provider.say("", ("a", "helper_pay", "{}"))
    chat.provider.say("Thank you.")
    await chat.say("pay")
    question = chat.page.get_by_role("region", name="A question for you")
    await expect(question).to_contain_text(f"{helper.shop}/pay?order=7")
    await expect(question.get_by_role("button", name="Done there")).to_be_disabled()
    async with chat.page.context.expect_page() as opened:
        await question.get_by_role("button", name="Open this page").click()
    shop = await opened.value
    await shop.wait_for_url(f"{helper.shop}/pay?order=7")
    assert await shop.evaluate("[window.opener, document.referrer]") == [None, ""]
    await question.get_by_role("button", name="Done there").click()
    await expect(chat.shown.get_by_text("Thank you.")).to_be_visible()


@pytest.mark.more
async def test_foreign_prompt_is_seen_before_the_model_is_told(open_chat):
    chat = await open_chat(Helper(), config=ALLOW)
    chat.provider.say("", ("a", "helper_repeat", "{}"))
    chat.provider.say("Steam, and leaves.")
    chat.provider.say("Nice.")
    await chat.say("repeat")
    question = chat.page.get_by_role("region", name="A question for you")
    await expect(question).to_contain_text("helper wants your model to write a text")
    await expect(question).to_contain_text("Write a poem about tea.")
    await question.get_by_role("button", name="Have it written").click()
    await expect(chat.shown.get_by_text("Nice.")).to_be_visible()


@pytest.mark.more
@pytest.mark.spec("K2")
async def test_question_is_asked_without_approval_and_answered_in_the_message_box(open_chat):
    """In mode `ask`: neither the question nor the list of things to do waits for an approval."""
    chat = await open_chat("agent_tools")
    chat.provider.say("", ("a", "todo_write", '{"todos": [{"id": "1", "content": "paint", "status": "pending"}]}'))
    chat.provider.say("", ("b", "ask_user", '{"question": "Which colour?", "options": ["red", "blue"]}'))
    chat.provider.say("Green it is.")
    await chat.say("paint")
    await expect(chat.page.get_by_role("region", name="A question for you")).to_contain_text("Which colour?")
    await expect(chat.box).to_have_attribute("placeholder", "Your answer")
    await chat.box.fill("a warm green")
    await chat.page.get_by_role("button", name="Answer", exact=True).last.click()
    await expect(chat.shown.get_by_text("Green it is.")).to_be_visible()
    assert "a warm green" in chat.provider.sent
    assert chat.ui.host.approvals.waiting == []
    await expect(chat.box).to_have_attribute("placeholder", "Write a message, / for tools, @ for files")
    await expect(chat.box).to_have_value("")


@pytest.mark.more
async def test_things_to_do_are_shown_as_they_change_and_after_a_reload(open_chat):
    chat = await open_chat(Helper(), config=ALLOW)
    chat.provider.say("", ("a", "helper_plan", '{"steps": ["look", "write", "test"]}'))
    chat.provider.say("Planned.")
    await chat.say("plan")
    todos = chat.page.locator("ac-chat-todos")
    await expect(todos.locator("summary")).to_contain_text("write")
    await expect(todos.locator("summary")).to_contain_text("1 of 3")
    await chat.page.reload()
    await todos.locator("summary").click()
    await expect(todos.get_by_role("listitem")).to_have_text(["look – done", "write – in progress", "test – to do"])


@pytest.mark.more
async def test_call_that_runs_shows_how_far_it_is(open_chat):
    helper = Helper()
    chat = await open_chat(helper, config=ALLOW)
    chat.provider.say("", ("a", "helper_work", "{}"))
    chat.provider.say("Worked.")
    await chat.say("work")
    await expect(chat.card.get_by_text("half of it")).to_be_visible()
    await expect(chat.card.get_by_role("progressbar")).to_have_js_property("value", 0.5)
    helper.release.set()
    await expect(chat.shown.get_by_text("Worked.")).to_be_visible()
    await expect(chat.card.get_by_role("button", name="helper_work")).to_contain_text("done")


@pytest.mark.more
async def test_agent_of_a_call_stands_inside_of_its_card_also_after_a_reload(open_chat):
    chat = await open_chat(Helper(), config=ALLOW)
    chat.provider.say("", ("a", "helper_delegate", '{"prompt": "stock up"}'))
    chat.provider.say("I look first.", ("b", "pantry_list", "{}"))
    chat.provider.say("There is bread.")
    chat.provider.say("It reports bread.")
    await chat.say("delegate")
    await expect(chat.shown.get_by_text("It reports bread.")).to_be_visible()
    await chat.until_idle()
    for _ in range(2):
        outer = chat.page.locator("ac-call-card").first
        await outer.get_by_text("Its agent: 1 call").click()
        await expect(outer.get_by_text("I look first.")).to_be_visible()
        await expect(outer.locator("ac-call-card").get_by_role("button", name="pantry_list")).to_contain_text("done")
        await expect(chat.messages).to_have_count(3 + 2)
        await chat.page.reload()


@pytest.mark.more
@pytest.mark.spec("K13")
async def test_stop_ends_an_agent_s_call_that_waits_in_its_card_too(open_chat):
    chat = await open_chat(Helper())
    chat.provider.say("", ("a", "helper_delegate", '{"prompt": "stock up"}'))
    chat.provider.say("", ("b", "pantry_add", '{"food": "salt"}'))
    await chat.say("delegate")
    await expect(chat.card).to_contain_text("waits for you")
    await chat.decide(approved=True)
    inner = chat.page.locator("ac-call-thread ac-call-card").first
    await expect(inner).to_contain_text("waits for you")
    await chat.page.get_by_role("button", name="Stop answering").click()
    await expect(chat.page.get_by_role("heading", name="You stopped the answer")).to_be_visible()
    await chat.page.get_by_text("Its agent: 1 call").click()
    await expect(inner.get_by_role("button", name="pantry_add")).to_contain_text("cancelled")
    assert (chat.ui.host.approvals.waiting, chat.pantry.added) == ([], [])


@pytest.mark.more
async def test_what_an_agent_had_said_when_it_was_stopped_stands_in_its_call_after_a_reload(open_chat):
    chat = await open_chat(Helper(), config=ALLOW)
    chat.provider.say("", ("a", "helper_delegate", '{"prompt": "Tell."}'))
    chat.provider.say("I look through the pantry now, shelf by shelf.", gate=asyncio.Event())
    await chat.say("delegate")
    await expect(chat.shown.get_by_text("I look")).to_be_visible()
    await chat.page.get_by_role("button", name="Stop answering").click()
    await expect(chat.shown.get_by_role("heading", name="You stopped the answer")).to_be_visible()
    await chat.page.reload()
    thread = chat.card.locator("ac-call-thread")
    await thread.locator("summary").first.click()
    await expect(thread.get_by_text("I look")).to_be_visible()
    await expect(thread.get_by_text("You stopped the answer")).to_be_visible()
