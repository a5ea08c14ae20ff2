"""Tracks a client's unanswered requests, so that each gets an answer even when the server ends."""

import json
import re
import threading
from typing import Any

_HEAD_BYTES = 200
# relies on the format of agentcore's own server, which writes the id before the result
_ANSWER = re.compile(rb'\{"jsonrpc":"2\.0","id":("(?:[^"\\]|\\.)*"|-?\d+),"(?:result|error)":')
_WAITING_MARK = b'{"jsonrpc":"2.0","method":"notifications/agentcore/waiting","params":'
_LARGE_BYTES = 256 * 1024

Id = str | int


class InFlight:
    """The unanswered requests of a client. Messages are not changed, and only their envelopes are inspected."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._methods: dict[Id, list[str]] = {}
        self._waiting: set[Id] = set()
        self.first_line = b""
        self.has_begun = False

    def record_request(self, line: bytes) -> None:
        """Record the request or cancellation in a line from the client."""
        message = _parse_envelope(line)
        request_id = message.get("id")
        method = message.get("method")
        if method == "notifications/cancelled":
            self._drop_cancelled(message)
        if not isinstance(method, str) or isinstance(request_id, bool) or not isinstance(request_id, Id):
            return
        with self._lock:
            # If the id is already in use, the server rejects the later request and then answers the first.
            self._methods.setdefault(request_id, []).append(method)
            self._waiting.discard(request_id)
        if method == "initialize" and not self.has_begun:
            self.first_line = line

    def record_answer(self, line: bytes) -> None:
        """Remove the request that a line from the server answers, with its mark."""
        found = _ANSWER.match(line[:_HEAD_BYTES])
        if found is None:
            return
        request_id: Id = json.loads(found.group(1))
        with self._lock:
            self._waiting.discard(request_id)
            methods = self._methods.get(request_id, [])
            if methods and methods.pop() == "initialize":
                self.has_begun = True
            if not methods:
                self._methods.pop(request_id, None)

    def record_mark(self, line: bytes) -> bool:
        """Record whether a request only waits for the user; False if the line is for the client."""
        if not line.startswith(_WAITING_MARK):
            return False
        params = json.loads(line)["params"]
        request_id: Id = params["id"]
        with self._lock:
            # an id that was used twice says nothing of either request
            if params["isWaiting"] and len(self._methods.get(request_id, ())) == 1:
                self._waiting.add(request_id)
            else:
                self._waiting.discard(request_id)
        return True

    def pop_all(self) -> list[tuple[Id, str, bool]]:
        """Remove and return the unanswered requests, except a handshake that must be repeated.

        Returns:
            Each with its method, and True if it only waited for the user.
        """
        with self._lock:
            waiting = self._waiting
            self._waiting = set()
            entries = [(request_id, method) for request_id, methods in self._methods.items() for method in methods]
            self._methods = {request_id: [method] for request_id, method in entries if not self._is_lost(method)}
        return [(request_id, method, request_id in waiting) for request_id, method in entries if self._is_lost(method)]

    def _drop_cancelled(self, message: dict[str, Any]) -> None:
        """Remove a request that the client has cancelled, which gets no answer."""
        params = message.get("params")
        request_id = params.get("requestId") if isinstance(params, dict) else None
        if isinstance(request_id, Id):
            with self._lock:
                self._methods.pop(request_id, None)

    def _is_lost(self, method: str) -> bool:
        return method != "initialize" or self.has_begun


def make_error_answer(request_id: Id, method: str, kind: str, message: str) -> bytes:
    """Return the answer to a request that the server never answers; for a tool call, a result that the model reads."""
    answer: dict[str, Any] = {"jsonrpc": "2.0", "id": request_id}
    if method == "tools/call":
        answer["result"] = {"content": [{"type": "text", "text": f"Error {kind}: {message}"}], "isError": True}
    else:
        answer["error"] = {"code": -32000, "message": message, "data": {"type": kind}}
    return json.dumps(answer).encode() + b"\n"


def _parse_envelope(line: bytes) -> dict[str, Any]:
    """Parse the envelope of a message; of a very long line, only the two ends are inspected."""
    if len(line) > _LARGE_BYTES:
        return _parse_ends(line)
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}  # the server reports the error
    return message if isinstance(message, dict) else {}


def _parse_ends(line: bytes) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in (line[:_HEAD_BYTES], line[-_HEAD_BYTES:]):
        if (method := re.search(rb'"method"\s*:\s*"([a-z/]+)"', part)) is not None:
            found.setdefault("method", method.group(1).decode())
        if (request_id := re.search(rb'"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)', part)) is not None:
            found.setdefault("id", json.loads(request_id.group(1)))
    return found


class LineBuffer:
    """Assembles lines from chunks without copying a long line again for each chunk."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self.size = 0

    def feed(self, data: bytes) -> list[bytes]:
        """Add a chunk and return the lines that end in it, without line feeds."""
        *ends, rest = data.split(b"\n")
        lines = []
        for end in ends:
            lines.append(b"".join((*self._parts, end)))
            self._parts = []
            self.size = 0
        if rest:
            self._parts.append(rest)
            self.size += len(rest)
        return lines

    def pop_rest(self) -> bytes:
        """Remove and return the unfinished line."""
        rest = b"".join(self._parts)
        self._parts = []
        self.size = 0
        return rest
