"""Parses the arguments of calls as models write them."""

import json
from typing import Any, NamedTuple

from agentcore.chat.chat_limits import ARGUMENTS_CHARS
from agentcore.errors import ToolError
from agentcore.strict_json import decode_json
from agentcore.tool_formats.formats import LoweredSchema


class ReadArguments(NamedTuple):
    """The arguments of a model's call.

    Args:
        text: JSON text of an object.
        error: Why they are invalid; then the text is `{}`.
        names_note: Which names were replaced, for the model; empty: none.
    """

    text: str
    error: ToolError | None = None
    names_note: str = ""


def read_arguments(arguments: str | dict[str, Any] | None, schema: LoweredSchema | None) -> ReadArguments:
    """Parse the arguments of a call into the JSON text of an object; invalid ones give `{}` and an error.

    Args:
        arguments: The arguments as the model wrote them.
        schema: Schema of the tool, by which they are repaired, so that everyone sees what runs; None: there is none.
    """
    given = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)
    if len(given) > ARGUMENTS_CHARS:
        message = f"the arguments have {len(given):,} characters, {ARGUMENTS_CHARS:,} are the bound; send less at once"
        return ReadArguments("{}", ToolError("invalid_arguments", message, limit=ARGUMENTS_CHARS))
    try:
        value = decode_json(given or "{}")
    except ValueError as exc:
        message = f"the arguments are not valid JSON ({exc}): {given[:200]!r}"
        return ReadArguments("{}", ToolError("invalid_arguments", message))
    if not isinstance(value, dict):
        message = f"the arguments must be a JSON object: {given[:200]!r}"
        return ReadArguments("{}", ToolError("invalid_arguments", message))
    if schema is None:
        return ReadArguments(json.dumps(value, ensure_ascii=False))
    text = json.dumps(schema.repair_arguments(value), ensure_ascii=False)
    return ReadArguments(text, names_note=schema.describe_aliases(value))
