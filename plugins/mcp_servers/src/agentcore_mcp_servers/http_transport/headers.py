"""Checks the headers of a block before they are sent: errors of the HTTP library would contain their secret values."""

import re
from collections.abc import Mapping

from agentcore.api import SecretStr, ToolError

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")


def checked_headers(headers: Mapping[str, SecretStr]) -> dict[str, str]:
    """Return the headers with their secret values.

    Raises:
        ToolError: `server_not_started` if HTTP does not allow a name or value. The message does not contain the value.
    """
    checked = {}
    for name, secret in headers.items():
        value = secret.get_secret_value()
        if not _NAME.fullmatch(name):
            raise ToolError("server_not_started", f"{name[:100]!r} is no name of a header")
        if (problem := _describe_problem(value)) is not None:
            message = f"the value of the header {name!r} {problem}, which no header may; set it again without"
            raise ToolError("server_not_started", message, header=name)
        checked[name] = value
    return checked


def _describe_problem(value: str) -> str | None:
    if "\n" in value or "\r" in value:
        return f"has {len(value.splitlines())} lines" if len(value.splitlines()) > 1 else "ends with a line break"
    if value != value.strip():
        return "begins or ends with a space"
    if not _VALUE.fullmatch(value):
        return "has characters that are not of Latin-1, or controls"
    return None
