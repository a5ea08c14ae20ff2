"""Arguments of calls as a model writes them."""

import json
from typing import Any

from agentcore.chat.bounds import ARGUMENTS_CHARS
from agentcore.errors import ToolError
from agentcore.strict_json import decode_json
from agentcore.tool_forms import LoweredSchema


def read_arguments(
    arguments: str | dict[str, Any] | None, schema: LoweredSchema | None
) -> tuple[str, ToolError | None]:
    """The arguments of a call as the JSON text of an object; what is none becomes an error, and an empty one.

    Args:
        arguments: As the model wrote them.
        schema: Of the tool that it calls, by which they are put right, so that all see what runs; None: there is none.
    """
    given = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)
    if len(given) > ARGUMENTS_CHARS:
        message = f"the arguments have {len(given):,} characters, {ARGUMENTS_CHARS:,} are the bound; send less at once"
        return "{}", ToolError("invalid_arguments", message, limit=ARGUMENTS_CHARS)
    try:
        value = decode_json(given or "{}")
    except ValueError as exc:
        return "{}", ToolError("invalid_arguments", f"the arguments are not valid JSON ({exc}): {given[:200]!r}")
    if not isinstance(value, dict):
        return "{}", ToolError("invalid_arguments", f"the arguments must be a JSON object: {given[:200]!r}")
    return json.dumps(value if schema is None else schema.repair_arguments(value), ensure_ascii=False), None
