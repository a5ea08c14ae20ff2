"""Arguments are read by the module's own model in both places: what it takes is taken, and what it says is said."""

import math
from datetime import date
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from agentcore.api import Module, ToolContext, tool
from agentcore.api.tool_context import Principal

WORDS = {"five": 5}


class Spelling(Module):
    """Says what it is given, whatever that is: its schema asks nothing of it."""

    def get_tool_definitions(self) -> list[dict[str, Any]]:
        """One tool."""
        return [{"name": "spell_all", "description": "Say what it is given.", "parameters": {"type": "object"}}]

    async def execute_tool_call(self, ctx: ToolContext, tool_name: str, args: dict[str, Any]) -> str:
        """Say it."""
        return ascii(args)


class Counting(Module):
    """Counts."""

    @tool(effects=("write",))
    async def count(self, number: Annotated[int, Field(le=9)], name: str = "n") -> dict[str, int]:
        """Take a number."""
        return {name: number}

    @tool(effects=("write",))
    async def spelled(self, number: Annotated[int, BeforeValidator(lambda given: WORDS.get(given, given))]) -> int:
        """Take a number, or a word for one."""
        return number

    @tool(effects=("write",))
    async def on(self, day: date) -> str:
        """Take a day."""
        return day.isoformat()

    @tool(effects=("write",))
    async def spell_out(self, text: str, number: float = 0.0) -> list[str]:
        """Say of which characters a text is, and which number a number."""
        return [ascii(text), repr(number)]


CASES: list[tuple[str, dict[str, Any]]] = [
    ("count", {"number": 3}),
    ("count", {"number": "3"}),
    ("count", {"number": 3.0}),
    ("count", {"number": 10}),
    ("count", {"number": "many"}),
    ("count", {"numbr": 3}),
    ("count", {"number": 3, "nam": "x", "name": 4}),
    ("spelled", {"number": "five"}),
    ("spelled", {"number": "six"}),
    ("on", {"day": "2026-11-24"}),
    ("on", {"day": "someday"}),
    # what no client can send, and a command line or another module can
    ("spell_out", {"text": "caf\udce9 and \U0001f600"}),
    ("spell_out", {"text": "NaN of \U0001f600", "number": math.nan}),
    ("spell_out", {"text": "Infinity", "number": -math.inf}),
    ("spell_all", {"text": "caf\udce9 and \U0001f600", "words": {"\ud800": [1.5, None, True, math.inf]}}),
]


async def test_arguments_are_what_they_are_in_the_server(agentcore_host):
    there = await agentcore_host(modules=[Counting(), Spelling()], isolation="process")
    here = await agentcore_host(modules=[Counting(), Spelling()], isolation="server")
    for name, arguments in CASES:
        assert await _ends(there, name, arguments) == await _ends(here, name, arguments), (name, arguments)


async def _ends(host, name: str, arguments: dict[str, Any]) -> tuple[Any, ...]:
    """How a call ends; what cannot run is not asked about."""
    outcome = await host.outcome(name, arguments)
    host.asked.clear()
    host.answer_approvals(approve=True)
    asked = await host.outcome(name, arguments, principal=Principal("chat"), session_id="s1")
    assert asked.ok is outcome.ok
    assert len(host.asked) in ((0, 1) if outcome.ok else (0,))
    return outcome.result, outcome.encoded_data, outcome.error and outcome.error.to_json()
