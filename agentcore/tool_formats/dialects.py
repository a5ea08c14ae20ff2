"""The subsets of JSON Schema that readers of tool definitions accept, one record each.

A definition that a provider rejects fails the whole request with all other tools. So each provider gets only what it
accepts; arguments are still validated against the original schema.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from agentcore.late_dataclasses import dataclass
from agentcore.tool_formats.keywords import ALL, NOTES, NUMBER_BOUNDS, SIZE_BOUNDS, STRUCTURE

DialectName = Literal["openai", "openai_strict", "portable", "anthropic", "gemini", "mcp"]


_ANTHROPIC_NAMES = re.compile(r"[a-zA-Z0-9_.-]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """The supported subset of a JSON Schema whose references are inlined.

    All dialects require an object without a choice (`anyOf`, `oneOf`, `allOf`) at the root.

    Attributes:
        name: Name of the dialect.
        keywords: The supported keywords.
        formats: The supported values of `format`; None: all.
        size_max: The largest supported number in `minLength`, `maxLength`, `minItems` and `maxItems`; None: any.
        needs_plain_patterns: True if only patterns that can be converted to a grammar are supported.
        takes_mixed: True if lists of types, and keywords next to a choice, are supported.
        takes_any: True if schemas without a type, and enums of values other than strings, are supported.
        tool_names: Pattern for tool names; None: any name that a tool can have.
        argument_names: Pattern for argument names; None: any.
        is_strict: True if every property must be required, and no object may be open.
        description_chars: Maximum length of a tool's description; None: any.
    """

    name: DialectName
    keywords: frozenset[str]
    formats: frozenset[str] | None = None
    size_max: int | None = None
    needs_plain_patterns: bool = False
    takes_mixed: bool = True
    takes_any: bool = True
    tool_names: re.Pattern[str] | None = None
    argument_names: re.Pattern[str] | None = None
    is_strict: bool = False
    description_chars: int | None = None

    def shorten_description(self, description: str) -> str:
        """Truncate a tool's description to the maximum length, between words."""
        limit = self.description_chars
        if limit is None or len(description) <= limit:
            return description
        head = description[: limit - len(_CUT)]
        return (head[: head.rfind(" ")] if " " in head else head).rstrip() + _CUT


_CUT = " …"
_OPENAI_DESCRIPTION = 1024
"""Source: the error message, `'tools[0].function.description': string too long`."""

OPENAI = Dialect(name="openai", keywords=ALL, description_chars=_OPENAI_DESCRIPTION)
"""OpenAI's own API, where a schema is only advice to the model.

Source: https://platform.openai.com/docs/guides/function-calling.
"""

OPENAI_STRICT = Dialect(
    name="openai_strict",
    keywords=STRUCTURE - {"prefixItems"}
    | NOTES
    | NUMBER_BOUNDS
    | {"minItems", "maxItems", "multipleOf", "pattern", "format"},
    formats=frozenset(("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid")),
    size_max=1000,
    needs_plain_patterns=True,
    takes_mixed=False,
    is_strict=True,
    description_chars=_OPENAI_DESCRIPTION,
)
"""OpenAI's API with `strict`, where the model can only generate what the schema permits.

Source: https://platform.openai.com/docs/guides/structured-outputs#supported-schemas.
"""

PORTABLE = Dialect(
    name="portable",
    keywords=STRUCTURE - {"prefixItems"} | NOTES | NUMBER_BOUNDS | SIZE_BOUNDS | {"pattern", "format"},
    formats=frozenset(("date", "time", "date-time", "uuid")),
    size_max=256,
    needs_plain_patterns=True,
    takes_mixed=False,
    argument_names=_ANTHROPIC_NAMES,
    description_chars=_OPENAI_DESCRIPTION,  # such a server may be a relay of OpenAI's models
)
"""Servers that convert it to a grammar (llama.cpp, Ollama, LM Studio, vLLM), and any other compatible server.

Source: llama.cpp's `common/json-schema-to-grammar.cpp`.
"""

MCP = replace(PORTABLE, name="mcp", keywords=PORTABLE.keywords | {"x-mcp-header"})
"""MCP clients, which pass definitions on to an unknown provider; some arguments are also sent as headers.

Source: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports.
"""

ANTHROPIC = Dialect(name="anthropic", keywords=ALL, argument_names=_ANTHROPIC_NAMES)
"""Anthropic's own API. Source: https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/overview."""

GEMINI = Dialect(
    name="gemini",
    keywords=STRUCTURE - {"prefixItems", "additionalProperties", "const"}
    | NOTES
    | SIZE_BOUNDS
    | {"minimum", "maximum", "pattern", "format"},
    formats=frozenset(("date-time",)),
    size_max=256,
    needs_plain_patterns=True,
    takes_mixed=False,
    takes_any=False,
    tool_names=re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}"),
)
"""Gemini, which accepts the same subset as `parameters` and as `parametersJsonSchema`.

Source: https://ai.google.dev/api/caching#Schema.
"""

DIALECTS: Mapping[DialectName, Dialect] = {
    dialect.name: dialect for dialect in (OPENAI, OPENAI_STRICT, PORTABLE, ANTHROPIC, GEMINI, MCP)
}
"""All dialects by name."""
