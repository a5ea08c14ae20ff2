"""What those who read definitions of tools take of a JSON Schema, one record each.

A definition that a provider does not take fails the whole request, with all other tools in it. So each gets what it
takes, and no more; arguments are held against the original all the same.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from agentcore.tool_forms.keywords import ALL, NOTES, NUMBER_BOUNDS, SIZE_BOUNDS, STRUCTURE

DialectName = Literal["openai", "openai_strict", "portable", "anthropic", "gemini", "mcp"]


_ANTHROPIC_NAMES = re.compile(r"[a-zA-Z0-9_.-]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """What is taken of a JSON Schema whose references stand inlined.

    At the root all want an object without a choice (`anyOf`, `oneOf`, `allOf`).

    Attributes:
        name: What it is called.
        keywords: The keywords that are kept.
        formats: The values of `format` that are kept; None: all.
        size_max: The largest number in `minLength`, `maxLength`, `minItems`, `maxItems` that is kept; None: any.
        needs_plain_patterns: Whether a pattern is kept only where a grammar can be made of it.
        takes_mixed: Whether lists of types, and a choice with something beside it, are taken.
        takes_any: Whether any value is taken without a type, and enums of other values than texts are.
        tool_names: What a tool's name has to match; None: any that a tool can have.
        argument_names: What an argument's name has to match; None: anything.
        is_strict: Whether every property has to be required, and no object open.
        description_chars: What a tool's description may have; None: any length.
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
        """A tool's description with no more than is taken of it, cut between words."""
        limit = self.description_chars
        if limit is None or len(description) <= limit:
            return description
        head = description[: limit - len(_CUT)]
        return (head[: head.rfind(" ")] if " " in head else head).rstrip() + _CUT


_CUT = " …"
_OPENAI_DESCRIPTION = 1024
"""Source: the refusal itself, `'tools[0].function.description': string too long`."""

OPENAI = Dialect(name="openai", keywords=ALL, description_chars=_OPENAI_DESCRIPTION)
"""OpenAI's own API, where a schema is advice to the model.

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
"""OpenAI's API with `strict`, where the model can write nothing but what the schema says.

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
    description_chars=_OPENAI_DESCRIPTION,  # relays of OpenAI's models have another address, too
)
"""Servers that make a grammar of it (llama.cpp, Ollama, LM Studio, vLLM), and whoever else may stand behind an address.

Source: llama.cpp's `common/json-schema-to-grammar.cpp`.
"""

MCP = replace(PORTABLE, name="mcp", keywords=PORTABLE.keywords | {"x-mcp-header"})
"""Clients of MCP: they hand definitions on to a provider that nobody knows here; some arguments come in headers too.

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
"""Gemini, which reads the same either as `parameters` or as `parametersJsonSchema`.

Source: https://ai.google.dev/api/caching#Schema.
"""

DIALECTS: Mapping[DialectName, Dialect] = {
    dialect.name: dialect for dialect in (OPENAI, OPENAI_STRICT, PORTABLE, ANTHROPIC, GEMINI, MCP)
}
"""All of them by name."""
