"""MCP: what it adds to a call of a tool that does nothing.

Counted is processor time, of the server and the client together: other programs disturb that least. Client and server
take turns, so that it is also the time that a call takes on a machine that does nothing else.
"""

import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks import servers
from benchmarks.calls import BODY, NOOP
from benchmarks.http_client import Connection, request_bytes
from benchmarks.measure import Row

HANDSHAKE = "2025-11-25"
STATELESS = "2026-07-28"
_ROUNDS = 40
_CALLS = 100
_ARGUMENTS = json.loads(BODY)["arguments"]
_TOOL = "noop_call"

Call = Callable[[], None]
"""Makes one call and waits for its end."""


def run() -> list[Row]:
    """Measure, and give the rows."""
    with tempfile.TemporaryDirectory() as folder:
        return [*_over_http(Path(folder) / "http")]


def _over_http(folder: Path) -> list[Row]:
    """Both kinds of revision against our own HTTP call: one server, one client's key."""
    app = {"clients": {"bench": {"mode": "allow"}}}
    with servers.agentcore(folder, {"noop": NOOP.format(name=_TOOL)}, app) as server:
        key = _key(server)
        with _calls_of(server, "/api/tools/noop_call/call", server.token, BODY) as own:
            with _handshake(server, key) as call:
                rows = [_row(f"/mcp, {HANDSHAKE}, against our own HTTP call", server.pid, call, own)]
            with _stateless(server, key) as call:
                rows.append(_row(f"/mcp, {STATELESS}, against our own HTTP call", server.pid, call, own))
    return rows


def _row(what: str, pid: int, subject: Call, floor: Call, target: float = 2) -> Row:
    """Rounds of the two in turn; the median of their ratios counts."""
    costs: tuple[list[float], list[float]] = ([], [])
    for turn in range(_ROUNDS + 3):
        for index, call in ((0, subject), (1, floor)) if turn % 2 else ((1, floor), (0, subject)):
            spent = _cpu_ms(pid)
            for _ in range(_CALLS):
                call()
            if turn >= 3:
                costs[index].append((_cpu_ms(pid) - spent) / _CALLS)
    paired = statistics.median(ours / theirs for ours, theirs in zip(*costs, strict=True))
    ours, theirs = map(statistics.median, costs)
    return Row(f"no-op call over {what}, CPU time", ours, theirs, target, paired=paired)


def _cpu_ms(pid: int) -> float:
    return servers.cpu_ms(pid) + time.process_time() * 1000


# -- clients ---------------------------------------------------------------------------------------------------


@contextmanager
def _calls_of(
    server: servers.Running, path: str, key: str, body: bytes, headers: dict[str, str] | None = None
) -> Iterator[Call]:
    connection = Connection(server.port)
    request = request_bytes("POST", path, server.port, body, key, headers=headers)

    def call() -> None:
        answer = connection.send(request)
        if not answer.startswith(b"HTTP/1.1 200") or b'"ok":false' in answer or b'"isError":true' in answer:
            raise AssertionError(answer[:1000])

    yield call
    connection.close()


@contextmanager
def _handshake(server: servers.Running, key: str) -> Iterator[Call]:
    shown = {"Accept": "application/json, text/event-stream"}
    client = {"name": "bench", "version": "1"}
    hello = _message("initialize", {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": client})
    connection = Connection(server.port)
    head = connection.send(request_bytes("POST", "/mcp", server.port, hello, key, headers=shown)).decode()
    session = next(line for line in head.splitlines() if line.lower().startswith("mcp-session-id:"))
    shown |= {"Mcp-Session-Id": session.partition(":")[2].strip(), "Mcp-Protocol-Version": HANDSHAKE}
    note = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode()
    connection.send(request_bytes("POST", "/mcp", server.port, note, key, headers=shown))
    connection.close()
    body = _message("tools/call", {"name": _TOOL, "arguments": _ARGUMENTS})
    with _calls_of(server, "/mcp", key, body, shown) as call:
        yield call


@contextmanager
def _stateless(server: servers.Running, key: str) -> Iterator[Call]:
    shown = {
        "Accept": "application/json, text/event-stream",
        "Mcp-Protocol-Version": STATELESS,
        "Mcp-Method": "tools/call",
        "Mcp-Name": _TOOL,
    }
    meta = {
        "io.modelcontextprotocol/protocolVersion": STATELESS,
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    body = _message("tools/call", {"name": _TOOL, "arguments": _ARGUMENTS, "_meta": meta})
    with _calls_of(server, "/mcp", key, body, shown) as call:
        yield call


def _message(method: str, params: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()


def _key(server: servers.Running) -> str:
    """A key of a client, as a person makes one."""
    connection = Connection(server.port)
    body = json.dumps({"name": "bench"}).encode()
    answer = connection.send(request_bytes("POST", "/api/mcp/clients", server.port, body, server.token))
    connection.close()
    return str(json.loads(answer.partition(b"\r\n\r\n")[2])["key"])
