"""`MessageLines`: parses a server's output into messages, one per line, and reports other output."""

import re
from collections.abc import Iterator

import mcp_types as types

from agentcore.api import has_more_json_parts, mask_secrets

Message = types.JSONRPCMessage

MESSAGE_BYTES = 16 * 1024 * 1024
"""Maximum size of a message."""

MESSAGE_PARTS = 100_000
"""Maximum number of JSON values in one message: the SDK parses it in one step, which blocks the event loop."""

_HEAD_BYTES = 4096
_ID = re.compile(rb'"id"\s*:\s*(\d{1,15}|"(?:[^"\\]|\\.){1,200}")')
_ASKS = re.compile(rb'\s*,\s*"method"')
_JUNK_SHOWN = 200
# an escaped backslash, a whole pair, or half of one
_PAIR = re.compile(rb"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_HALF_BYTES = 6


class Junk(str):
    """Output of a server that is not a message."""

    __slots__ = ()


class MessageLines:
    """Incremental parser of a server's output.

    Lines beyond the size limit are not stored. If such a line, or one that cannot be parsed, starts like a response, an
    error response for the pending request is returned instead.
    """

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0
        self._head = b""

    def feed(self, data: bytes) -> Iterator[tuple[Message | Junk, int]]:
        """Yield the messages that end in these bytes, or `Junk`, each with the size of its line in bytes."""
        *ends, rest = data.split(b"\n")
        for end in ends:
            self._append_part(end)
            size = self._size
            message = self._parse_line()
            if message is not None:
                yield message, size
        self._append_part(rest)

    def _append_part(self, part: bytes) -> None:
        self._size += len(part)
        if self._size <= MESSAGE_BYTES:
            self._parts.append(part)
        elif self._parts:
            self._head = b"".join(self._parts)[:_HEAD_BYTES]
            self._parts = []

    def _parse_line(self) -> Message | Junk | None:
        size = self._size
        head = self._head
        line = b"".join(self._parts)
        self._parts = []
        self._size = 0
        self._head = b""
        if size > MESSAGE_BYTES:
            message = f"a message of {size:,} bytes, the bound is {MESSAGE_BYTES:,}"
            return _error_for(head, message) or Junk(message)
        if not line.strip():
            return None
        if has_more_json_parts(line, MESSAGE_PARTS):
            message = f"a message of more than {MESSAGE_PARTS:,} values"
            return _error_for(line[:_HEAD_BYTES], message) or Junk(message)
        try:
            return types.jsonrpc_message_adapter.validate_json(_without_half_pairs(line), by_name=False)
        except ValueError:
            junk = Junk(mask_secrets(line[:_HEAD_BYTES].decode("utf-8", "replace"))[:_JUNK_SHOWN])
            return _error_for(line[:_HEAD_BYTES], "what is no message of MCP") or junk


def _without_half_pairs(line: bytes) -> bytes:
    """Replace escapes of half a surrogate pair, which are no characters, by U+FFFD; others stay as they are.

    They come from servers that cut a text in the middle of an emoji.
    """
    if b"\\ud" not in line and b"\\uD" not in line:
        return line
    return _PAIR.sub(lambda found: found[0] if len(found[0]) != _HALF_BYTES else rb"\ufffd", line)


def _error_for(head: bytes, said: str) -> Message | None:
    """Create an error response for a line that starts like a response; None if it does not."""
    found = _ID.search(head)
    if found is None or b'"method"' in head[: found.start()] or _ASKS.match(head, found.end()):
        return None
    raw = found.group(1)
    error = types.ErrorData(code=types.PARSE_ERROR, message=f"the server answered with {said}")
    ident = raw[1:-1].decode("utf-8", "replace") if raw[:1] == b'"' else int(raw)
    return types.JSONRPCError(jsonrpc="2.0", id=ident, error=error)
