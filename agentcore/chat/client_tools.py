"""Schemas of client tools: checked when they arrive, and used to validate a model's arguments."""

import json
from collections.abc import Iterable
from typing import Any

from agentcore.chat.chat_limits import CLIENT_PATTERNS, CLIENT_SCHEMAS_BYTES
from agentcore.core.modules.schema_compiling import Validate, check_cost, compile_schema
from agentcore.core.modules.validation import invalid_arguments
from agentcore.errors import ToolError


def check_schemas(tools: Iterable[tuple[str, dict[str, Any]]]) -> None:
    """Check that arguments can be validated against the schemas of all tools of one request in bounded time.

    Args:
        tools: Name, and JSON Schema of the arguments.
    Raises:
        ValueError: They cannot, because of one schema or of all together; the message says what to do.
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
    """Check one schema; return the number of its patterns."""
    if schema.get("type", "object") != "object":
        raise ValueError("arguments are an object, so the schema's type must be 'object'")
    patterns = check_cost(schema)
    if patterns_before + patterns > CLIENT_PATTERNS:
        raise ValueError(f"with it there are more than {CLIENT_PATTERNS} patterns; leave some out")
    compile_schema(schema)
    return patterns


class ClientArguments:
    """Validates arguments against the schemas of client tools; each schema is compiled at first use."""

    def __init__(self) -> None:
        self._compiled: dict[str, Validate] = {}

    def check_arguments(self, tool: str, schema: dict[str, Any], arguments: dict[str, Any]) -> ToolError | None:
        """Return the error of a call's arguments; None if they are valid.

        Args:
            tool: The tool's name.
            schema: Its schema, as sent by the client.
            arguments: The model's arguments.
        """
        try:
            if tool not in self._compiled:
                self._compiled[tool] = compile_schema(schema)
        except ValueError as exc:  # it was stored by a version that did not check it
            return ToolError("invalid_arguments", f"{tool} cannot be called: its schema is not taken: {exc}")
        errors = self._compiled[tool](arguments)
        return invalid_arguments(tool, schema, errors) if errors else None
