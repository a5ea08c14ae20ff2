"""What tools ask of a person in `agentcore chat`: questions, prompts to send, and forms."""

import pytest

READY = "\x1b[?2004h"
"""What the terminal is told when a line can be edited."""


@pytest.mark.more
def test_question_of_a_tool_is_answered_in_the_terminal(place, model, on_terminal):
    source = (place.folder / "modules" / "clock.py").read_text()
    asking = """
    @tool(read_only=True)
    async def clock_ask(self, ctx: ToolContext) -> str:
        \'\'\'Ask which zone.\'\'\'
        return "it is " + await ctx.ask("Which zone?", ["Rome", "Bonn"])
"""
    place.add_module("clock", source + asking)
    for _ in range(2):
        model.say("one moment", ("clock_ask", {}), waits=True)
        model.say("thanks")
    model.gate.set()
    terminal = on_terminal("chat", "--mode", "allow", "ask me")
    terminal.expect("? Which zone? (Rome / Bonn)")
    terminal.type("Bonn\n")
    code, shown = terminal.end()
    assert code == 0
    assert "it is Bonn" in shown
    model.gate.clear()
    terminal = on_terminal("chat", "--mode", "allow")
    terminal.expect(READY)
    terminal.type("ask me\r")
    terminal.expect("one")
    terminal.type("Rome and")
    terminal.expect("Rome and")
    model.gate.set()
    terminal.expect("? Which zone? (Rome / Bonn)")
    terminal.type("Bonn\n")
    terminal.expect("it is Bonn")


def test_prompt_stands_in_the_next_line_and_is_sent_by_the_person(place, model, on_terminal):
    source = (place.folder / "modules" / "clock.py").read_text()
    prompts = """
    @tool(served_as="prompt", effects=["read"])
    async def clock_plan(self, day: str) -> str:
        \'\'\'Plan a day.\'\'\'
        return f"Plan my {day}."

    def nights(self, tool, argument, begun, given):
        return [night for night in ("Christmas eve", "Monday") if night.startswith(begun)]

    @tool(served_as="prompt", effects=["read"], complete=nights)
    async def clock_sleep(self, night: str) -> str:
        \'\'\'Sleep.\'\'\'
        return f"Sleep through {night}."

    @tool(served_as="prompt", effects=["read"])
    async def clock_trick(self) -> str:
        \'\'\'Look like a command.\'\'\'
        return "/quit"
"""
    place.add_module("clock", source + prompts)
    model.say("A long walk.")
    terminal = on_terminal("chat")
    terminal.expect(READY)
    terminal.type("/prompt\r")
    terminal.expect("Plan a day.")
    terminal.expect(READY)
    terminal.type("/prompt clock_pla day=x\r")
    terminal.expect("clock_plan")
    terminal.expect(READY)
    terminal.type("/prompt clock_trick\r")
    terminal.expect("clock_trick:")
    terminal.type("\x03")
    terminal.expect("Ctrl-D ends")
    terminal.type("/prompt clock_sleep night=Chr\t")
    terminal.expect("'Christmas eve'")
    terminal.type("\r")
    terminal.expect("Sleep through Christmas eve.")
    terminal.type("\x03")
    terminal.expect("Ctrl-D ends")
    terminal.type("/prompt clock_plan day=Sunday\r")
    terminal.expect("Plan my Sunday.")
    terminal.type(" Please\r")
    terminal.expect("A long walk.")
    assert model.asked[0]["messages"][-1]["content"] == "Plan my Sunday. Please"


@pytest.mark.more
def test_form_of_a_tool_is_filled_in_at_the_terminal_and_can_be_declined(place, model, on_terminal):
    source = (place.folder / "modules" / "clock.py").read_text()
    asking = """
    @tool(read_only=True)
    async def clock_order(self, ctx: ToolContext) -> str:
        \'\'\'Ask what it may be.\'\'\'
        fields = {
            "cups": {"type": "integer", "title": "How many cups", "minimum": 1},
            "with": {"type": "array", "items": {"type": "string", "enum": ["milk", "sugar"]}},
            "here": {"type": "boolean", "default": True},
        }
        form = {"type": "object", "properties": fields, "required": ["cups"]}
        return str(await ctx.ask("What may it be?", schema=form))

    @tool(read_only=True)
    async def clock_pay(self, ctx: ToolContext) -> str:
        \'\'\'Have it paid for.\'\'\'
        await ctx.ask("Pay for it.", url="https://pay.example/7")
        return "paid"
"""
    place.add_module("clock", source + asking)
    for _ in range(2):
        model.say("one moment", ("clock_order", {}))
        model.say("thanks")
    model.say("one moment", ("clock_pay", {}))
    model.say("thanks")
    terminal = on_terminal("chat", "--mode", "allow", "order")
    for asked, line in (
        ("How many cups:", "0"),
        ("(milk / sugar, with commas between, may be left empty):", "milk, sugar"),
        ("here (yes / no, else True):", ""),
        ("cups must be at least 1", None),
        ("How many cups:", "2"),
        ("may be left empty):", ""),
        ("else True):", "no"),
    ):
        terminal.expect(asked)
        if line is not None:
            terminal.type(f"{line}\n")
    code, shown = terminal.end()
    assert code == 0
    assert "{'cups': 2, 'here': False}" in shown
    terminal = on_terminal("chat", "--mode", "allow", "order")
    terminal.expect("How many cups:")
    terminal.type("/decline\n")
    assert "declined to answer" in terminal.end()[1]
    terminal = on_terminal("chat", "--mode", "allow", "pay")
    terminal.expect("https://pay.example/7")
    terminal.expect("Type yes when you are done there")
    terminal.type("yes\n")
    assert "paid" in terminal.end()[1]
