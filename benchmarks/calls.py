"""Listing tools over HTTP against a bare handler; a call in process with one module and with fifty.

Calls over HTTP are in `budget`.
"""

import asyncio
import json
import statistics
import tempfile
import time
from pathlib import Path

from benchmarks import servers
from benchmarks.http_client import Connection, request_bytes
from benchmarks.measure import Row

NOOP = '''
from typing import Any
from agentcore.api import Module, ToolResult, Text, tool

OK = (Text("ok"),)

class Noop(Module):
    """Does nothing."""

    @tool(read_only=True)
    async def {name}(self, text: str, number: int = 0, data: dict[str, Any] | None = None) -> ToolResult:
        """Do nothing, and say so."""
        return ToolResult(OK, data)


'''

BODY = json.dumps(
    {"arguments": {"text": "some text of a usual length", "number": 7, "data": {"a": [1, 2, 3], "b": "c"}}}
).encode()


def many_tools() -> str:
    """Source of a module with a hundred tools."""
    methods = "\n".join(
        f'''    @tool(read_only=True)
    async def listed_{number}(self, path: str, limit: int = 100) -> str:
        """Do the thing number {number} with a path.

        Args:
            path: Where to do it, relative to the workspace.
            limit: How often to do it at most.
        """
        return path
'''
        for number in range(100)
    )
    return f'from agentcore.api import Module, tool\n\nclass Many(Module):\n    """Many tools."""\n\n{methods}\n'


def run() -> list[Row]:
    """Measure, and give the rows."""
    with tempfile.TemporaryDirectory() as folder:
        return [_listing(Path(folder)), asyncio.run(_in_process(Path(folder)))]


def _listing(folder: Path) -> Row:
    with servers.agentcore(folder / "many", {"many": many_tools()}) as subject:
        connection = Connection(subject.port)
        listing = request_bytes("GET", "/api/tools", subject.port, token=subject.token)
        body = connection.send(listing).partition(b"\r\n\r\n")[2]
        (folder / "listing.json").write_bytes(body)
        with servers.bare(folder / "listing.json") as floor:
            bare = request_bytes("GET", "/listing", floor.port)
            name = f"listing 100 tools ({len(body) // 1024} KiB)"
            return Row(name, *_medians(subject.port, listing, floor.port, bare), 1.5)


def _medians(port: int, request: bytes, floor_port: int, floor_request: bytes) -> tuple[float, float]:
    connections = (Connection(port), Connection(floor_port))
    requests = (request, floor_request)
    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(22):
        for index in (0, 1):
            for _ in range(100):
                began = time.perf_counter()
                answer = connections[index].send(requests[index])
                if turn >= 2:
                    times[index].append((time.perf_counter() - began) * 1000)
            if not answer.startswith(b"HTTP/1.1 200") or b'"ok":false' in answer:
                raise AssertionError(answer[:500])
    return statistics.median(times[0]), statistics.median(times[1])


async def _in_process(folder: Path) -> Row:
    one = await _host_call_ms(folder / "host1", 1)
    fifty = await _host_call_ms(folder / "host50", 50)
    return Row("host.call with 50 modules, against 1 module", fifty, one, 1.1)


async def _host_call_ms(folder: Path, count: int) -> float:
    from agentcore.api.tool_context import Principal
    from agentcore.core.calls.call import CallRequest
    from benchmarks.own_host import open_host

    (folder / "modules").mkdir(parents=True)
    names = [f"noop_{number}" for number in range(count)]
    for name in names:
        (folder / "modules" / f"{name}.py").write_text(NOOP.format(name=f"{name}_call"))
    principal = Principal("cli")
    times = []
    async with open_host(folder, app={"modules": names}) as core:
        tool = f"{names[-1]}_call"
        for turn in range(23):
            began = time.perf_counter()
            for _ in range(200):
                outcome = await core.run_call(CallRequest(tool, {"text": "x"}, principal))
            if turn >= 3:
                times.append((time.perf_counter() - began) * 1000 / 200)
            assert outcome.ok, outcome.error
    return statistics.median(times)
