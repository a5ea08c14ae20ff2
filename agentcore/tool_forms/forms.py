"""Definitions of tools in the forms of those who read them: providers of models, and MCP."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from agentcore.tool_forms.dialect_schema import Lowered, lower_schema
from agentcore.tool_forms.dialects import ANTHROPIC, GEMINI, MCP, OPENAI, OPENAI_STRICT, PORTABLE, Dialect
from agentcore.tool_forms.references import inline_references
from agentcore.tool_forms.repair import repair_arguments

FormName = Literal["openai", "openai_strict", "openai_compatible", "anthropic", "gemini", "mcp"]


class Annotations(Protocol):
    """Hints for clients."""

    def to_mcp(self) -> dict[str, bool]:
        """Under MCP's names."""


class Definition(Protocol):
    """What a form is made of; `agentcore.api.ToolDefinition` is one."""

    @property
    def name(self) -> str:
        """What the tool is called by."""

    @property
    def description(self) -> str:
        """What it does."""

    @property
    def output_schema(self) -> dict[str, Any] | None:
        """JSON Schema of the result's data."""

    @property
    def annotations(self) -> Annotations:
        """Hints for clients."""


@dataclass(frozen=True, slots=True)
class ToolForm:
    """A form in which definitions are sent.

    Attributes:
        name: What the HTTP API and the command line call it.
        label: Who reads it.
        dialect: What they take of a schema.
        write: Makes the definition of a tool and its lowered schema.
        cuts_descriptions: Whether a description goes as the dialect takes it; else it goes whole.
    """

    name: FormName
    label: str
    dialect: Dialect
    write: Callable[[Definition, Lowered], dict[str, Any]]
    cuts_descriptions: bool = True


class LoweredSchema:
    """A tool's schema, and what it is in each dialect, made once when it is wanted."""

    __slots__ = ("__weakref__", "_inlined", "_made", "schema")

    def __init__(self, schema: dict[str, Any]) -> None:
        self.schema = schema
        self._made: dict[str, Lowered] = {}
        self._inlined: dict[str, Any] | None = None

    def lower_to(self, dialect: Dialect) -> Lowered:
        """The schema in a dialect; whoever gets it leaves it as it is."""
        made = self._made.get(dialect.name)
        if made is None:
            made = self._made[dialect.name] = lower_schema(self.schema, dialect)
        return made

    def repair_arguments(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """A model's arguments, put right where there is no doubt what they mean."""
        if self._inlined is None:
            self._inlined = inline_references(self.schema)
        return repair_arguments(arguments, self._inlined)


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
    # an object without properties is refused there
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
"""All of them by name."""
