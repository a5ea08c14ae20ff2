"""Tool definitions in the formats of their readers: model providers and MCP."""

from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol

from agentcore.late_dataclasses import dataclass
from agentcore.tool_formats.aliases import list_renamed
from agentcore.tool_formats.dialect_schema import Lowered, lower_schema
from agentcore.tool_formats.dialects import ANTHROPIC, GEMINI, MCP, OPENAI, OPENAI_STRICT, PORTABLE, Dialect
from agentcore.tool_formats.repair import repair_arguments
from agentcore.tool_formats.schema_references import inline_references

FormName = Literal["openai", "openai_strict", "openai_compatible", "anthropic", "gemini", "mcp"]


class Annotations(Protocol):
    """Hints for clients."""

    def to_mcp(self) -> dict[str, bool]:
        """Return the hints under their MCP names."""


class Definition(Protocol):
    """The input of a form; implemented by `agentcore.api.ToolDefinition`."""

    @property
    def name(self) -> str:
        """Name of the tool."""

    @property
    def description(self) -> str:
        """Description of the tool."""

    @property
    def output_schema(self) -> dict[str, Any] | None:
        """JSON Schema of the data of the result; None: not declared."""

    @property
    def annotations(self) -> Annotations:
        """Hints for clients."""


@dataclass(frozen=True, slots=True)
class ToolForm:
    """A form in which definitions are sent.

    Attributes:
        name: Name in the HTTP API and on the command line.
        label: Name of the reader for display.
        dialect: The schema dialect of the reader.
        write: Creates the definition from a tool and its lowered schema.
        cuts_descriptions: True if descriptions are truncated to the dialect's maximum.
    """

    name: FormName
    label: str
    dialect: Dialect
    write: Callable[[Definition, Lowered], dict[str, Any]]
    cuts_descriptions: bool = True


class LoweredSchema:
    """A tool's schema and its conversion to each dialect, computed on first use."""

    __slots__ = ("__weakref__", "_inlined", "_made", "schema")

    def __init__(self, schema: dict[str, Any]) -> None:
        self.schema = schema
        self._made: dict[str, Lowered] = {}
        self._inlined: dict[str, Any] | None = None

    def lower_to(self, dialect: Dialect) -> Lowered:
        """Return the schema in a dialect; callers must not modify it."""
        made = self._made.get(dialect.name)
        if made is None:
            made = self._made[dialect.name] = lower_schema(self.schema, dialect)
        return made

    def repair_arguments(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Repair a model's arguments where their meaning is unambiguous."""
        return repair_arguments(arguments, self._get_inlined())

    def describe_aliases(self, arguments: dict[str, Any]) -> str:
        """Return which names of a model's arguments are called differently, for the model; empty: none."""
        if self.schema.get("properties", {}).keys() >= arguments.keys():
            return ""
        renamed = list_renamed(arguments, self._get_inlined())
        pairs = ", ".join(f"`{given}` is `{own}`" for given, own in renamed)
        return f"[Names of arguments: {pairs}.]" if pairs else ""

    def _get_inlined(self) -> dict[str, Any]:
        if self._inlined is None:
            self._inlined = inline_references(self.schema)
        return self._inlined


def _to_openai(definition: Definition, lowered: Lowered) -> dict[str, Any]:
    description = OPENAI.shorten_description(definition.description)
    function = {"name": definition.name, "description": description, "parameters": lowered.schema}
    return {"type": "function", "function": function}


def _to_openai_strict(definition: Definition, lowered: Lowered) -> dict[str, Any]:
    made = _to_openai(definition, lowered)
    made["function"]["strict"] = lowered.is_strict
    return made


def _to_anthropic(definition: Definition, lowered: Lowered) -> dict[str, Any]:
    return {"name": definition.name, "description": definition.description, "input_schema": lowered.schema}


def _to_gemini(definition: Definition, lowered: Lowered) -> dict[str, Any]:
    made: dict[str, Any] = {"name": definition.name, "description": definition.description}
    # Gemini rejects an object without properties
    return made | {"parameters": lowered.schema} if lowered.schema["properties"] else made


def _to_mcp(definition: Definition, lowered: Lowered) -> dict[str, Any]:
    tool: dict[str, Any] = {
        "name": definition.name,
        "description": definition.description,
        "inputSchema": lowered.schema,
    }
    if definition.output_schema is not None:
        tool["outputSchema"] = definition.output_schema
    if hints := definition.annotations.to_mcp():
        tool["annotations"] = hints
    return tool


FORMS: Mapping[FormName, ToolForm] = {
    form.name: form
    for form in (
        ToolForm("openai", "OpenAI", OPENAI, _to_openai),
        ToolForm("openai_strict", "OpenAI with strict", OPENAI_STRICT, _to_openai_strict),
        ToolForm("openai_compatible", "OpenAI-compatible servers", PORTABLE, _to_openai),
        ToolForm("anthropic", "Anthropic", ANTHROPIC, _to_anthropic),
        ToolForm("gemini", "Gemini", GEMINI, _to_gemini),
        ToolForm("mcp", "MCP", MCP, _to_mcp, cuts_descriptions=False),
    )
}
"""All forms by name."""
