"""Arguments that no tool expects: every failure is foreseen, none is a defect."""

import itertools
import random
from typing import Any

import pytest

from agentcore.api.tool_context import Principal
from agentcore.core.calls.call import CallRequest

MODULES = ["fs_tools", "shell_tools", "web_tools", "agent_tools", "system_tools"]
TEXTS = [
    "",
    " ",
    "\0",
    "a\0b",
    "../../..",
    "/",
    "~",
    "\ud800",
    "[",
    "(?P<",
    "*" * 300,
    "a" * 4000,
    "é",
    "a/" * 900,
    "\n",
    "-rf",
    ".",
    "http://[::1",
    "http://127.0.0.1:1/",
    "{",
    "\u202e",
    "a.txt",
    "a.txt/b",
    "$(true)",
    "%s{}",
]
NUMBERS = [0, 1, -1, 2**31, 2**53, 10**18]
_ROUNDS = 14
# they act on the user's desktop, or wait for a person
_LEFT_OUT = frozenset(("ask_user",))


def odd_value(schema: dict[str, Any], chance: random.Random) -> Any:
    """A value of the schema's type, mostly, at the edge of what it may be."""
    if options := schema.get("anyOf") or schema.get("oneOf"):
        return odd_value(chance.choice(options), chance)
    if "enum" in schema:
        return chance.choice([*schema["enum"], "odd"])
    kind = schema.get("type", "string")
    if chance.random() < 0.05:
        return chance.choice([None, [], {}, "x", 1.5, True])
    if kind == "array":
        return [odd_value(schema.get("items", {}), chance) for _ in range(chance.choice([0, 1, 2, 40]))]
    if kind == "object":
        return {name: odd_value(each, chance) for name, each in schema.get("properties", {}).items()}
    choices = {"integer": NUMBERS, "number": [*NUMBERS, 0.5, -1e300], "boolean": [True, False], "null": [None]}
    return chance.choice(choices.get(kind, TEXTS))


@pytest.mark.processes
async def test_no_odd_argument_is_an_internal_error(agentcore_host, tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    config = {"approvals": {"mode": "allow"}, "config": {"shell_tools": {"sandbox": "off"}}}
    host = await agentcore_host(modules=MODULES, config=config, roots=[tmp_path])
    chance = random.Random(7)
    tools = [each.definition for each in host.host.registry.tools.values() if each.definition.name not in _LEFT_OUT]
    defects = []
    for _, tool in itertools.product(range(_ROUNDS), tools):
        (tmp_path / "a.txt").write_text("one\ntwo\n")
        schema = tool.input_schema
        needed = schema.get("required", [])
        names = [each for each in schema.get("properties", {}) if each in needed or chance.random() < 0.4]
        arguments = {name: odd_value(schema["properties"][name], chance) for name in names}
        outcome = await host.host.run_call(CallRequest(tool.name, arguments, Principal("cli", "x")))
        if outcome.error is not None and outcome.error.type == "internal_error":
            defects.append((tool.name, arguments, outcome.error.message))
    assert defects == []
