"""The schemas of tools that a client brings: looked at when they come, and held against what a model wants of them."""

import json
from collections.abc import Iterable
from typing import Any

from agentcore.chat.bounds import CLIENT_PATTERNS, CLIENT_SCHEMAS_BYTES
from agentcore.core.modules import Validate, check_cost, compile_schema, invalid_arguments
from agentcore.errors import ToolError


def check_schemas(tools: Iterable[tuple[str, dict[str, Any]]]) -> None:
    """See that arguments can be held against the schemas of all tools of one request, in a bounded time.

    Args:
        tools: Name, and JSON Schema of the arguments.
    Raises:
        ValueError: With one of them, or with all together, they cannot; it says what to do.
    """
    size = 0
    patterns = 0
    for name, schema in tools:
        size += len(json.dumps(schema))
        if size > CLIENT_SCHEMAS_BYTES:
            message = f"the parameters of all tools together have more than {CLIENT_SCHEMAS_BYTES:,} bytes; send less"
            raise ValueError(message)
        try:
            patterns += _check_schema(schema, patterns)
        except ValueError as exc:
            raise ValueError(f"the parameters of {name!r} are not taken: {exc}") from exc


def _check_schema(schema: dict[str, Any], patterns_before: int) -> int:
    """See that one schema can be used; gives the number of its patterns."""
    if schema.get("type", "object") != "object":
        raise ValueError("arguments are an object, so the schema's type must be 'object'")
    patterns = check_cost(schema)
    if patterns_before + patterns > CLIENT_PATTERNS:
        raise ValueError(f"with it there are more than {CLIENT_PATTERNS} patterns; leave some out")
    compile_schema(schema)
    return patterns


class ClientArguments:
    """Holds arguments against the schemas of the tools that a client brought; each is compiled when it is wanted."""

    def __init__(self) -> None:
        self._compiled: dict[str, Validate] = {}

    def check_arguments(self, tool: str, schema: dict[str, Any], arguments: dict[str, Any]) -> ToolError | None:
        """What is wrong with the arguments of a call; None: nothing is.

        Args:
            tool: The tool's name.
            schema: What the client sent for it.
            arguments: What the model gives.
        """
        try:
            if tool not in self._compiled:
                self._compiled[tool] = compile_schema(schema)
        except ValueError as exc:  # it was kept by a version that did not look
            return ToolError("invalid_arguments", f"{tool} cannot be called: its schema is not taken: {exc}")
        errors = self._compiled[tool](arguments)
        return invalid_arguments(tool, schema, errors) if errors else None
