"""Large inputs: how long one of a module, a mounted server, a model or a client holds up another caller.

Beside each input, another caller makes no-op calls one after the other. The longest that one of them took counts, of
several rounds in which all of the input was handled or refused; in processor time of the server, which other programs
on the machine do not change, and which is as long as the call on a machine that does nothing else.
"""

import asyncio
import json
import sys
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agentcore.api.tool_context import Principal
from benchmarks import servers
from benchmarks.calls import BODY, NOOP
from benchmarks.http_client import Connection, request_bytes
from benchmarks.measure import Row

_ROUNDS = 5
_CALLS_AFTER = 50
_TARGET_MS = 250
_MIB = 1 << 20

_FLOOD = '''
from agentcore.api import Module, Text, ToolDefinition, ToolResult

SHAPES = {
    "blocks": lambda: ToolResult([Text("")] * 1_000),
    "too_many_blocks": lambda: ToolResult([Text("")] * 550_000),
    "values": lambda: {"a": [{"b": 0}] * 60_000},
    "too_many_values": lambda: {"a": [0] * 900_000},
}


class Flood(Module):
    """Gives and offers very much."""

    def get_tool_definitions(self):
        choices = {"type": "object", "properties": {"a": {"enum": list(range(9_900))}}}
        shapes = [ToolDefinition(f"flood_{name}", "Give much.", {"type": "object"}) for name in SHAPES]
        return [*shapes, *(ToolDefinition(f"choose_{number}", "Choose.", choices) for number in range(12))]

    async def execute_tool_call(self, ctx, tool_name, args):
        """Give it; `again` has the tools read again."""
        if tool_name == "choose_0":
            self.runtime.tools_changed()
            return "read again"
        return SHAPES[tool_name.removeprefix("flood_")]()
'''

_SERVER = """
import json, sys

OBJECT = {"type": "object"}
TOOLS = [{"name": name, "inputSchema": OBJECT} for name in ("blocks", "too_many_blocks", "values")]
RESULTS = {
    "blocks": {"content": [{"type": "text", "text": ""}] * 30_000},
    "too_many_blocks": {"content": [{"type": "text", "text": ""}] * 550_000},
    "values": {"content": [], "structuredContent": {"a": [{"b": 0}] * 30_000}},
}
for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("method") == "initialize":
        info = {"name": "flood", "version": "1"}
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
    elif asked.get("method") == "tools/list":
        result = {"tools": TOOLS}
    elif asked.get("method") == "tools/call":
        result = RESULTS[asked["params"]["name"]]
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


def run() -> list[Row]:
    """Measure, and give the rows."""
    with tempfile.TemporaryDirectory() as folder:
        rows = asyncio.run(_inside(Path(folder) / "inside"))
        return [*rows, *_over_http(Path(folder) / "http")]


async def _inside(folder: Path) -> list[Row]:
    """What modules, mounted servers and models give."""
    from agentcore.core.calls.call import CallRequest
    from benchmarks.own_host import open_host

    (folder / "modules").mkdir(parents=True)
    (folder / "modules" / "noop.py").write_text(NOOP.format(name="noop_call"))
    (folder / "modules" / "flood.py").write_text(_FLOOD)
    (folder / "server.py").write_text(_SERVER)
    block = {"command": sys.executable, "args": [str(folder / "server.py")], "agentcore": {"sandbox": "off"}}
    app = {"modules": ["noop", "flood", "fs_tools", "mcp_much"], "mcpServers": {"much": block}}
    async with open_host(folder, app) as core:
        while "much_blocks" not in core.registry.tools:
            await asyncio.sleep(0.01)
        root = core.workspace.roots[0]
        Path(root, "large.txt").write_text("a" * (16 * _MIB))
        Path(root, "small.txt").write_text("a")

        def call(tool: str, **arguments: Any) -> Callable[[], Awaitable[object]]:
            return lambda: core.run_call(CallRequest(tool, dict(arguments), Principal("cli")))

        async def noop() -> None:
            outcome = await core.run_call(CallRequest("noop_call", {"text": "x"}, Principal("cli")))
            assert outcome.ok, outcome.error

        swap = [{"old": "a", "new": "b", "all": True}]
        double = [{"old": "a", "new": "aa", "all": True}] * 34
        inputs = {
            "a module's result of 1,000 blocks": call("flood_blocks"),
            "a module's result of 550,000 blocks": call("flood_too_many_blocks"),
            "a module's result of 120,000 values": call("flood_values"),
            "a module's result of 900,000 values": call("flood_too_many_values"),
            "100,000 values in a module's schemas": call("choose_0", a=1),
            "a mounted server's result of 30,000 blocks": call("much_blocks"),
            "a mounted server's result of 550,000 blocks": call("much_too_many_blocks"),
            "a mounted server's result of 60,000 values": call("much_values"),
            "edit of a file of 16 MiB": call("edit", path="large.txt", edits=swap, dry_run=True),
            "edit that doubles a byte 34 times": call("edit", path="small.txt", edits=double, dry_run=True),
        }
        return [_row(what, await _longest_ms(noop, give)) for what, give in inputs.items()]


async def _longest_ms(noop: Callable[[], Awaitable[None]], give: Callable[[], Awaitable[object]]) -> float:
    """The longest call of another caller while an input is handled."""
    longest = 0.0
    for _ in range(_ROUNDS):
        given = asyncio.ensure_future(give())
        left = _CALLS_AFTER  # what the input leaves to the event loop counts as well
        while left:
            left -= given.done()
            began = time.process_time()
            await noop()
            longest = max(longest, time.process_time() - began)
        await given
    return longest * 1000


def _over_http(folder: Path) -> list[Row]:
    """What a client sends."""
    values = json.dumps({"arguments": {"text": "x", "data": {"a": [{"b": 0}] * 60_000}}}).encode()
    many = json.dumps({"arguments": {"text": "x", "data": {"a": [0] * 1_300_000}}}).encode()
    with servers.agentcore(folder, {"noop": NOOP.format(name="noop_call")}) as server, _noops(server) as longest_ms:
        return [
            _row("a body of 120,000 values", longest_ms(values)),
            _row("a body of 1,300,000 values", longest_ms(many)),
        ]


@contextmanager
def _noops(server: servers.Running) -> Iterator[Callable[[bytes], float]]:
    """Gives the function that sends a body, and gives the longest call of another caller meanwhile."""
    sending, calling = Connection(server.port), Connection(server.port)
    noop = request_bytes("POST", "/api/tools/noop_call/call", server.port, BODY, server.token)

    def longest_ms(body: bytes) -> float:
        large = request_bytes("POST", "/api/tools/noop_call/call", server.port, body, server.token)
        longest = 0.0
        for _ in range(_ROUNDS):
            thread = threading.Thread(target=sending.send, args=(large,))
            thread.start()
            left = _CALLS_AFTER
            while left:
                left -= not thread.is_alive()
                began = servers.cpu_ms(server.pid)
                calling.send(noop)
                longest = max(longest, servers.cpu_ms(server.pid) - began)
            thread.join()
        return longest

    yield longest_ms
    sending.close()
    calling.close()


def _row(what: str, longest_ms: float) -> Row:
    return Row(f"longest wait of another caller beside {what}, CPU time", longest_ms, 0, _TARGET_MS)
