"""Definitions of tools: four forms are read, what is wrong costs that tool, and says which tool and field."""

import enum
import math
import typing
from typing import Annotated, Literal, NotRequired

import pytest
import typing_extensions

from agentcore.api import (
    BaseModel,
    Field,
    HostAlias,
    Image,
    Module,
    ResourceUse,
    ToolDefinition,
    ToolError,
    ToolResult,
    tool,
)
from agentcore.api.definition import ToolAnnotations
from agentcore.api.tool_context import Principal
from agentcore.core.calls.call import CallRequest
from agentcore.core.declarations.definitions import read_definition

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
NAMED = {"name": "look", "description": "Look."}


@pytest.mark.spec("M5")
@pytest.mark.parametrize(
    "given",
    [
        {"type": "function", "function": {**NAMED, "parameters": SCHEMA, "strict": True}},
        {"type": "function", **NAMED, "parameters": SCHEMA, "strict": False},
        {**NAMED, "parameters": SCHEMA},
        {"type": "custom", **NAMED, "input_schema": SCHEMA, "cache_control": {"type": "ephemeral"}},
        {**NAMED, "inputSchema": SCHEMA, "title": "Look", "_meta": {"a": 1}},
        ToolDefinition("look", "Look.", SCHEMA).to_openai(),
        ToolDefinition("look", "Look.", SCHEMA).to_anthropic(),
        ToolDefinition("look", "Look.", SCHEMA).to_mcp(),
        ToolDefinition("look", "Look.", SCHEMA).to_json(),
        ToolDefinition("look", "Look.", SCHEMA),
    ],
)
def test_each_form_of_a_definition_is_read(given):
    definition = read_definition(given)
    assert (definition.name, definition.description, definition.input_schema) == ("look", "Look.", SCHEMA)
    assert definition.effects == {"execute"}


@pytest.mark.spec("M5")
def test_what_a_raw_definition_says_besides_is_honoured():
    definition = read_definition(
        {
            **NAMED,
            "inputSchema": SCHEMA,
            "outputSchema": {"type": "object"},
            "annotations": {"readOnlyHint": True, "openWorldHint": True},
            "effects": ["read", "egress"],
            "timeout_ms": 2_500,
            "rank": 2,
            "display": {"city": "subject"},
            "limit_bytes": 1_000,
            "resource": {"type": "browser", "argument": "page", "create": True},
        }
    )
    assert definition.output_schema == {"type": "object"}
    assert definition.annotations == ToolAnnotations(read_only=True, open_world=True)
    assert definition.effects == {"read", "egress"}
    assert (definition.timeout_s, definition.limit_bytes, definition.rank) == (2.5, 1_000, 2)
    assert definition.resource == ResourceUse("browser", "page", create=True)
    assert definition.to_json()["display"] == {"city": "subject"}
    assert read_definition(NAMED).input_schema["additionalProperties"] is False


@pytest.mark.spec("M4", "M5")
@pytest.mark.parametrize(
    ("given", "said"),
    [
        (3, "a tool definition must be a ToolDefinition"),
        ({"description": "x"}, "needs a name"),
        ({**NAMED, "input_shema": SCHEMA}, "did you mean 'input_schema'?"),
        ({**NAMED, "inputSchema": SCHEMA, "parameters": SCHEMA}, "say the same"),
        ({**NAMED, "name": 3}, "the name of a tool must be text, not 3"),
        ({**NAMED, "name": "no blanks"}, "that matches"),
        ({**NAMED, "name": "shutdown"}, "reserved"),
        ({**NAMED, "name": "settings"}, "reserved"),
        ({**NAMED, "name": "find_tools"}, "reserved"),
        ({**NAMED, "description": ""}, "description of tool 'look'"),
        ({**NAMED, "parameters": {"a": {1, 2}}}, "parameters.a: set is no JSON value"),
        ({**NAMED, "effects": "read"}, "effects of tool 'look' must be a list"),
        ({**NAMED, "effects": ["magic"]}, "effects of tool 'look' must be some of"),
        ({**NAMED, "effects": []}, "effects of tool 'look' must not be empty"),
        ({**NAMED, "effects": ["session"]}, "a plain definition cannot have 'session'"),
        ({**NAMED, "model_chars": 100}, "model_chars of tool 'look' must be 2,000 to 1,000,000 characters, or None"),
        ({**NAMED, "keep": "middle"}, "keep of tool 'look' must be one of head, tail, both"),
        ({**NAMED, "artifact_call": "{}"}, "artifact_call of tool 'look' must be arguments as JSON text with {id}"),
        ({**NAMED, "annotations": {"readonly": True}}, "did you mean 'read_only'?"),
        ({**NAMED, "annotations": {"readOnlyHint": "yes"}}, "readOnlyHint of tool 'look' must be True or False"),
        ({**NAMED, "timeout_s": math.inf}, "inf is no number of JSON"),
        ({**NAMED, "timeout_s": 0}, "timeout_s of tool 'look' must be a number above 0"),
        ({**NAMED, "timeout_ms": 1, "timeout_s": 1}, "say the same"),
        ({**NAMED, "limit_bytes": 1.5}, "limit_bytes of tool 'look'"),
        ({**NAMED, "rank": 10}, "rank of tool 'look' must be a whole number from 0 to 9, not 10"),
        ({**NAMED, "rank": True}, "rank of tool 'look'"),
        ({**NAMED, "display": {"city": "colour"}}, "display of tool 'look' must be roles out of"),
        ({**NAMED, "display": {"town": "subject"}}, "display names 'town', which is neither an argument nor a field"),
        ({**NAMED, "resource": "page"}, "resource of tool 'look'"),
        ({**NAMED, "resource": {"type": "page", "arg": "x"}}, "unknown key 'arg'"),
        (ToolDefinition("look", "Look.", SCHEMA, timeout_s=math.inf), "timeout_s of tool 'look'"),
        (ToolDefinition("look", "Look.", SCHEMA, timeout_s=math.nan), "timeout_s of tool 'look'"),
        (ToolDefinition("look", "Look.", SCHEMA, resource="page"), "resource of tool 'look'"),  # type: ignore[arg-type]
        (ToolDefinition("look", "Look.", SCHEMA, preview=3), "preview of tool 'look'"),  # type: ignore[arg-type]
        ({**NAMED, "view": "<!doctype html>"}, "unknown key 'view'"),
        (
            ToolDefinition("look", "Look.", SCHEMA, view="<script></script>"),
            "view of tool 'look' must be an HTML document",
        ),
        (ToolDefinition("look", "Look.", SCHEMA, view="<!doctype html>" * 5000), "view of tool 'look' must be at most"),
        (
            ToolDefinition("look", "Look.", SCHEMA, served_as="ui://agentcore/look"),
            "that begins with none of agentcore:, ui://agentcore/",
        ),
        (
            ToolDefinition("look", "Look.", SCHEMA, host_alias="browser.click"),
            "host_alias of tool 'look' must be a HostAlias",
        ),
        (
            ToolDefinition("look", "Look.", SCHEMA, host_alias=HostAlias("look")),
            "a dotted name such as 'browser.click'",
        ),
        (
            ToolDefinition("look", "Look.", SCHEMA, host_alias=HostAlias("browser.click", {"a": "x" * 5_000})),
            "arguments of host_alias of tool 'look' have more than 4,096 bytes",
        ),
        (ToolDefinition("look", "Look.", SCHEMA, served_as="prompt", view="<!doctype html>"), "a view, and served_as"),
        (ToolDefinition("look", "Look.", SCHEMA, arguments=int), "arguments of tool 'look'"),  # type: ignore[type-var]
        (ToolDefinition("look", "Look.", SCHEMA, {"a": object()}), "output_schema of tool 'look': a"),
        ({**NAMED, "effects": ["write"], "annotations": {"readOnlyHint": True}}, "read_only, and effects ['write']"),
        ({**NAMED, "annotations": {"readOnlyHint": True, "destructiveHint": True}}, "read_only and destructive"),
        ({**NAMED, "annotations": {"readOnlyHint": True, "idempotentHint": False}}, "not idempotent"),
        ({**NAMED, "effects": ["read"], "annotations": {"destructiveHint": True}}, "destructive, and effects"),
        ({**NAMED, "parameters": {"description": "x" * 300_000}}, "the bound is"),
    ],
)
def test_wrong_definition_is_refused_with_tool_and_field(given, said):
    with pytest.raises((TypeError, ValueError)) as raised:
        read_definition(given)
    assert said in str(raised.value)


def test_what_is_kept_of_a_definition_is_not_the_modules_any_more():
    class Word(str):
        def __str__(self) -> str:
            raise RuntimeError("never asked")

    class Kind(enum.StrEnum):
        LOOK = "look"

    schema = {"type": Word("object"), "properties": {}}
    definition = read_definition(ToolDefinition(Kind.LOOK, Word("Look."), schema))
    schema["properties"] = {"late": object()}
    assert type(definition.name) is type(definition.description) is type(definition.input_schema["type"]) is str
    assert definition.input_schema == {"type": "object", "properties": {}}


OLD = typing.TypedDict("OLD", {"city": str, "note": NotRequired[str]})  # noqa: UP013


class NEW(typing_extensions.TypedDict):
    where: OLD
    all: list[OLD]


class Place(BaseModel):
    city: Annotated[str, Field(min_length=2)]


class Slips(Module):
    """One tool works; each of the others is wrong in a way of its own."""

    @tool(read_only=True)
    async def slips_fine(self) -> str:
        """Work."""
        return "fine"

    @tool
    async def slips_bare(self) -> None: ...

    @tool
    async def slips_untyped(self, x) -> None:
        """Lack a hint."""

    @tool
    async def slips_forward(self, x: "Nowhere") -> None:  # noqa: F821
        """Refer to what is not there."""

    @tool(timeout_s=math.inf)
    async def slips_endless(self) -> None:
        """Take for ever."""

    @tool(timeout=3)  # type: ignore[call-overload]
    async def slips_unknown(self) -> None:
        """Misspell a parameter."""

    @tool("slips_positional")  # type: ignore[call-overload]
    async def slips_positional(self) -> None:
        """Give the name by position."""

    @tool(effects=3)  # type: ignore[call-overload]
    async def slips_effects(self) -> None:
        """Have no effects."""

    @tool(read_only=True, destructive=True)
    async def slips_contradictory(self) -> None:
        """Contradict itself."""

    @tool(preview=3)  # type: ignore[call-overload]
    async def slips_preview(self) -> None:
        """Have a wrong preview."""

    @tool
    @property
    def slips_property(self) -> str:
        """Be no method."""
        return ""

    @tool
    async def shutdown(self) -> None:  # type: ignore[override]
        """Be a hook."""
        raise AssertionError("it is not the hook")

    @tool
    async def settings(self) -> None:  # type: ignore[override]
        """Be an attribute."""


@pytest.mark.spec("M4")
async def test_wrong_tool_costs_itself_and_not_the_module(agentcore_host):
    running = await agentcore_host([Slips], is_failure_expected=True)
    record = running.host.modules.records["slips"]
    assert (record.state, list(running.host.registry.tools)) == ("ready", ["slips_fine"])
    assert (await running.call("slips_fine")).blocks()[0].text == "fine"
    wanted = [name for name, value in vars(Slips).items() if name.startswith("slips_") and name != "slips_fine"]
    for name in [*wanted, "shutdown", "settings"]:
        assert any(name in problem for problem in record.tool_errors), name
    assert "did you mean 'timeout_s'?" in str(record.tool_errors)


def _choices(name: str, count: int) -> ToolDefinition:
    return ToolDefinition(name, "Choose.", {"type": "object", "properties": {"a": {"enum": list(range(count))}}})


class Choosing(Module):
    """Has tools with very many choices."""

    def get_tool_definitions(self) -> list[ToolDefinition]:
        return [_choices("too_many", 10_000), *(_choices(f"many_{number}", 9_000) for number in range(15))]

    async def execute_tool_call(self, ctx: object, tool_name: str, args: object) -> str:
        return tool_name


async def test_values_in_the_schemas_of_a_module_are_counted(agentcore_host):
    running = await agentcore_host([Choosing], is_failure_expected=True)
    assert list(running.host.registry.tools) == [f"many_{number}" for number in range(11)]
    too_many, left_out = running.host.modules.records["choosing"].tool_errors
    assert "'too_many' have 10,006 values" in too_many
    assert "4 tools are left out" in left_out
    assert (await running.call("many_0", a=1)).blocks()[0].text == "many_0"


class Giving(Module):
    """Returns what it is told."""

    @tool(read_only=True)
    async def give_text(self, what: str) -> str:
        """Give text."""
        return eval(what)

    @tool(read_only=True)
    def give_number(self, what: str) -> int | None:
        """Give a number, from a thread."""
        return eval(what)

    @tool(read_only=True)
    async def give_old(self, what: str) -> OLD:
        """Give a typing.TypedDict."""
        return eval(what)

    @tool(read_only=True)
    async def give_new(self, what: str) -> NEW:
        """Give one that holds another."""
        return eval(what)

    @tool(read_only=True)
    async def give_place(self, what: str) -> Place | ToolResult:
        """Give a model."""
        return eval(what)

    @tool(read_only=True)
    async def give_both(self, what: str) -> ToolResult[OLD]:
        """Give text and data."""
        return eval(what)

    @tool(read_only=True)
    async def give_image(self, what: str) -> Image:
        """Give a picture."""
        return eval(what)

    @tool(read_only=True)
    async def give_choice(self, what: str) -> Literal["a", "b"]:
        """Give one of two."""
        return eval(what)

    @tool(read_only=True)
    async def give_list(self, what: OLD, other: str) -> list[dict[str, int]]:
        """Take a typing.TypedDict, and give a list."""
        return eval(other)


HOST = {"modules": [Giving]}


@pytest.mark.spec("M6")
@pytest.mark.parametrize(
    ("name", "what", "path"),
    [
        ("give_text", "'x'", None),
        ("give_text", "3", ""),
        ("give_text", "None", ""),
        ("give_number", "3", None),
        ("give_number", "None", None),
        ("give_number", "'3'", ""),
        ("give_old", "{'city': 'Bonn'}", None),
        ("give_old", "{'city': 'Bonn', 'note': 'x'}", None),
        ("give_old", "{'note': 'x'}", "city"),
        ("give_old", "{'city': 3}", "city"),
        ("give_new", "{'where': {'city': 'a'}, 'all': [{'city': 'b'}]}", None),
        ("give_new", "{'where': {'city': 'a'}, 'all': [{'city': 3}]}", "all[0].city"),
        ("give_place", "Place(city='Bonn')", None),
        ("give_place", "ToolResult('x')", None),
        ("give_place", "'x'", ""),
        ("give_both", "ToolResult('x', {'city': 'Bonn'})", None),
        ("give_both", "ToolResult[OLD]('x', {'city': 'Bonn', 'more': 1})", None),
        ("give_both", "ToolResult('x')", ""),
        ("give_both", "ToolResult('x', {'city': 3})", "city"),
        ("give_number", "True", None),
        ("give_image", "Image(b'x')", None),
        ("give_image", "'x'", ""),
        ("give_choice", "'a'", None),
        ("give_choice", "'c'", ""),
    ],
)
async def test_result_is_held_against_the_type_that_the_tool_declares(shared_host, name, what, path):
    outcome = await shared_host.outcome(name, {"what": what})
    if path is None:
        assert outcome.ok, outcome.error
        return
    assert outcome.error.type == "invalid_result"
    assert (outcome.error.context["tool"], outcome.error.context["errors"][0]["path"]) == (name, path)
    assert name in outcome.error.message


@pytest.mark.spec("M2")
async def test_typed_dicts_of_typing_work_as_arguments_too(agentcore_host):
    running = await agentcore_host([Giving])
    assert (await running.call("give_list", what={"city": "Bonn"}, other="[{'a': 1}]")).data == [{"a": 1}]
    assert (await running.outcome("give_list", {"what": {"city": 3}, "other": "[]"})).error.type == "invalid_arguments"
    for name in ("give_old", "give_both"):
        assert running.host.registry.tools[name].definition.output_schema["required"] == ["city"]


@pytest.mark.spec("M6")
async def test_data_of_a_raw_tool_is_held_against_its_output_schema(make_host):
    source = """
from agentcore.api import ToolResult, hookimpl

@hookimpl
def get_tool_definitions():
    output = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    return [{"name": "count", "description": "Count.", "inputSchema": {"type": "object"}, "outputSchema": output}]

@hookimpl
async def execute_tool_call(ctx, tool_name, args):
    return ToolResult("counted", eval(args["what"]))
"""
    host = await make_host(files={"raw": source}, modules=["raw"])
    good = await host.run_call(CallRequest("count", {"what": "{'n': 3}"}, Principal("cli")))
    assert good.unwrap().data == {"n": 3}
    for what in ("{'n': 'x'}", "None", "{}"):
        wrong = await host.run_call(CallRequest("count", {"what": what}, Principal("cli")))
        with pytest.raises(ToolError) as raised:
            wrong.unwrap()
        assert raised.value.type == "invalid_result"
