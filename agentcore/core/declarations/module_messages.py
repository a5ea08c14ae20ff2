"""Requests of a module to the same module on a foreign machine, and its answers, read strictly."""

from collections.abc import Mapping
from typing import Any

from agentcore.core.module_code.value_reading import WrongValueError, read_mapping
from agentcore.encoding import to_json
from agentcore.errors import ToolError
from agentcore.limits import ASK_HOST_BYTES


def read_message(values: Any, data: Any, where: str) -> tuple[dict[str, Any], bytes | None]:
    """JSON values, and the bytes with them.

    Args:
        where: The method that they are handed to, for messages.
    Raises:
        ToolError: `message_too_large`.
        TypeError: They are something else.
    """
    if data is not None and type(data) is not bytes:
        raise WrongValueError(f"data of {where}", "bytes, or None", data)
    if type(values) is not dict and isinstance(values, Mapping):
        values = dict(values)
    read = read_mapping(values, f"what is said by {where}", mends_text=True)
    _check_size(len(to_json(read)), "a message")
    _check_size(len(data or b""), "a piece")
    return read, data


def read_answer(made: Any) -> tuple[dict[str, Any], bytes | None]:
    """Read the return value of a handler of `answer_hosts`.

    Raises:
        ToolError: `message_too_large`.
        TypeError: It has the wrong type.
    """
    if type(made) is not tuple or len(made) != 2:  # noqa: PLR2004 - an answer, and its bytes
        raise WrongValueError("what a handler of answer_hosts gives", "an answer with its bytes, or None", made)
    return read_message(*made, "answer_hosts")


def _check_size(size_bytes: int, what: str) -> None:
    if size_bytes > ASK_HOST_BYTES:
        message = f"{what} of {size_bytes:,} bytes is too much to pass to a host, or from it, at one time"
        raise ToolError("message_too_large", f"{message}: {ASK_HOST_BYTES:,} are the bound", limit_bytes=ASK_HOST_BYTES)
