"""Which of a client's requests have no answer yet: so that each gets one, also when the server ends."""

import json
import re
import threading
from typing import Any

_HEAD_BYTES = 200
# answers and requests are the server's own, which writes the id in front
_ANSWER = re.compile(rb'\{"jsonrpc":"2\.0","id":("(?:[^"\\]|\\.)*"|-?\d+),"(?:result|error)":')
_LARGE_BYTES = 256 * 1024

Id = str | int


class InFlight:
    """The requests of a client that wait for an answer. Nothing of what passes is changed, and no more is looked at."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._methods: dict[Id, list[str]] = {}
        self.first_line = b""
        self.has_begun = False

    def record_request(self, line: bytes) -> None:
        """Look at a line of the client's."""
        message = _parse_envelope(line)
        request_id = message.get("id")
        method = message.get("method")
        if method == "notifications/cancelled":
            self._drop_cancelled(message)
        if not isinstance(method, str) or isinstance(request_id, bool) or not isinstance(request_id, Id):
            return
        with self._lock:
            # an id may be in use already: then the server refuses the later one, and answers the first
            self._methods.setdefault(request_id, []).append(method)
        if method == "initialize" and not self.has_begun:
            self.first_line = line

    def record_answer(self, line: bytes) -> None:
        """Look at a line of the server's."""
        found = _ANSWER.match(line[:_HEAD_BYTES])
        if found is None:
            return
        request_id: Id = json.loads(found.group(1))
        with self._lock:
            methods = self._methods.get(request_id, [])
            if methods and methods.pop() == "initialize":
                self.has_begun = True
            if not methods:
                self._methods.pop(request_id, None)

    def pop_all(self) -> list[tuple[Id, str]]:
        """The requests that wait, with their methods; they wait no more. A handshake that has to be repeated stays."""
        with self._lock:
            entries = [(request_id, method) for request_id, methods in self._methods.items() for method in methods]
            self._methods = {request_id: [method] for request_id, method in entries if not self._is_lost(method)}
        return [(request_id, method) for request_id, method in entries if self._is_lost(method)]

    def _drop_cancelled(self, message: dict[str, Any]) -> None:
        """What the client has cancelled gets no answer."""
        params = message.get("params")
        request_id = params.get("requestId") if isinstance(params, dict) else None
        if isinstance(request_id, Id):
            with self._lock:
                self._methods.pop(request_id, None)

    def _is_lost(self, method: str) -> bool:
        return method != "initialize" or self.has_begun


def make_error_answer(request_id: Id, method: str, kind: str, message: str) -> bytes:
    """The answer to a request that gets none from the server: of a tool's call a result that a model reads."""
    answer: dict[str, Any] = {"jsonrpc": "2.0", "id": request_id}
    if method == "tools/call":
        answer["result"] = {"content": [{"type": "text", "text": f"Error {kind}: {message}"}], "isError": True}
    else:
        answer["error"] = {"code": -32000, "message": message, "data": {"type": kind}}
    return json.dumps(answer).encode() + b"\n"


def _parse_envelope(line: bytes) -> dict[str, Any]:
    """What a line says of itself; of one that is very long, what stands at its ends."""
    if len(line) > _LARGE_BYTES:
        return _parse_ends(line)
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}  # the server says so
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
    """Puts lines together out of pieces, without copying a long one anew for each."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self.size = 0

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that end in a piece, without their ends."""
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
        """What there is of a line that has not ended, which is kept no longer."""
        rest = b"".join(self._parts)
        self._parts = []
        self.size = 0
        return rest
