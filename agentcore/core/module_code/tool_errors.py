"""Converts errors that modules raise on purpose into plain values."""

import re
from typing import Any

from agentcore.core.module_code.module_error import text_of, type_name
from agentcore.core.module_code.plain_values import copy_for_display, plain_text
from agentcore.errors import ToolError
from agentcore.limits import ERROR_CHARS

_TYPE = re.compile(r"[a-z][a-z0-9_]{0,63}")


class WrongToolError(TypeError):
    """A module raised a `ToolError` whose type is no word of an error; the message shows it."""


def plain_error(exc: ToolError) -> ToolError:
    """Return the same error with plain values, bounded.

    Raises:
        WrongToolError: Its type is not snake_case, so that callers could not distinguish it.
    """
    kind: Any = exc.type  # a module may have set anything
    context: Any = exc.context
    if type(kind) is not str or not _TYPE.fullmatch(kind):
        found = repr(kind[:100]) if isinstance(kind, str) else type_name(kind)
        raise WrongToolError(f"the type of a ToolError must be a snake_case word of at most 64 characters, not {found}")
    error = ToolError(
        kind,
        _read_message(exc.message),
        retryable=exc.retryable is True,
        untrusted=exc.untrusted is not False,
    )
    error.context = copy_for_display(context, limit_chars=ERROR_CHARS) if isinstance(context, dict) else {}
    return error


def _read_message(message: Any) -> str:
    if isinstance(message, str):
        return plain_text(message if len(message) <= ERROR_CHARS else f"{message[:ERROR_CHARS]}…")
    if isinstance(message, BaseException):
        return text_of(message) or type_name(message)
    return str(message) if type(message) in (int, float, bool) else f"[{type_name(message)}]"
