"""Converts errors that modules raise on purpose into plain values."""

import re
from typing import Any

from agentcore.bounds import ERROR_CHARS
from agentcore.core.containment.foreign_error import attributes_of, text_of, type_name
from agentcore.core.containment.plain_values import copy_for_display, plain_text
from agentcore.errors import ToolError

_TYPE = re.compile(r"[a-z][a-z0-9_]{0,63}")


class WrongToolError(TypeError):
    """A module raised a `ToolError` whose type is no word of an error; the message shows it."""


def plain_error(exc: ToolError) -> ToolError:
    """Return the same error with plain values, bounded; no code of the module's class runs.

    Raises:
        WrongToolError: Its type is not snake_case, so that callers could not distinguish it.
    """
    attributes = attributes_of(exc)
    kind = attributes.get("type")
    if type(kind) is not str or not _TYPE.fullmatch(kind):
        found = repr(kind[:100]) if type(kind) is str else type_name(kind)
        raise WrongToolError(f"the type of a ToolError must be a snake_case word of at most 64 characters, not {found}")
    retryable = attributes.get("retryable") is True
    untrusted = attributes.get("untrusted") is not False
    error = ToolError(kind, _read_message(attributes.get("message")), retryable=retryable, untrusted=untrusted)
    context = attributes.get("context")
    error.context = (
        copy_for_display(context, limit_chars=ERROR_CHARS) if issubclass(type(context), dict) and context else {}
    )
    return error


def _read_message(message: Any) -> str:
    if issubclass(type(message), str):
        head = str.__getitem__(message, slice(0, ERROR_CHARS))
        return plain_text(head if str.__len__(message) <= ERROR_CHARS else f"{head}…")
    if issubclass(type(message), BaseException):
        return text_of(message) or type_name(message)
    return str(message) if type(message) in (int, float, bool) else f"[{type_name(message)}]"
