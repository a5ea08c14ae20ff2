"""`make soak`: ordinary work for an hour, and whether memory, descriptors, processes and disk stay flat.

Calls of tools, commands, changed files, chats that are deleted again, event readers and MCP sessions go on at once, as
fast as one client of each makes them. `make soak ARGS=600` runs for so many seconds. The median of the last quarter is
held against that of the second: the first one fills caches. The record of calls and the log grow to their bounds by
design; they are shown, and held against those alone.
"""

import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from agentcore.supervision.descendants import list_descendants
from benchmarks import servers
from benchmarks.calls import NOOP
from benchmarks.provider import provider

_SAMPLES = 200
_APP: dict[str, Any] = {
    "modules": ["fs_tools", "shell_tools", "system_tools", "noop"],
    "approvals": {"mode": "allow"},
    "limits": {"record_bytes": 1 << 26},
}


@dataclass(frozen=True, slots=True)
class _Measured:
    """What is measured, and by how much it may grow: a share of its size, and a number on top."""

    name: str
    share: float
    more: float

    def is_flat(self, samples: list[float]) -> bool:
        """True if the last quarter is not beyond the second one."""
        second, last = self.quarters(samples)
        return last <= second * (1 + self.share) + self.more

    def quarters(self, samples: list[float]) -> tuple[float, float]:
        """The medians of the second and of the last quarter."""
        size = len(samples) // 4
        return statistics.median(samples[size : 2 * size]), statistics.median(samples[-size:])


_MEASURED = (
    _Measured("memory of the server (PSS), MiB", 0.05, 2),
    _Measured("descriptors", 0, 4),
    _Measured("threads", 0, 4),
    _Measured("processes", 0, 2),
    _Measured("files beside database, record and log, KiB", 0.05, 64),
)


class _Work:
    """Work that goes on until the time is over; `done` counts it."""

    def __init__(self, client: aiohttp.ClientSession, until: float) -> None:
        self.done: Counter[str] = Counter()
        self._client = client
        self._until = until

    async def run(self) -> None:
        """Do all of it at once."""
        async with asyncio.TaskGroup() as group:
            for name, work in (
                ("calls", self._call),
                ("files changed", self._change_file),
                ("commands", self._run_command),
                ("chats", self._chat),
                ("event readers", self._read_events),
                ("MCP sessions", self._use_mcp),
            ):
                group.create_task(self._repeat(name, work))

    async def _repeat(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        while time.monotonic() < self._until:
            await work()
            self.done[name] += 1

    async def _call_tool(self, tool: str, **arguments: Any) -> None:
        body = {"arguments": arguments}
        async with self._client.post(f"/api/tools/{tool}/call", json=body) as response:
            told = await response.json()
            assert told["ok"], told

    async def _call(self) -> None:
        await self._call_tool("noop_call", text="some text")

    async def _change_file(self) -> None:
        number = self.done["files changed"]
        await self._call_tool("write_file", path=f"file_{number % 10}.txt", content=f"{number}\n" * 500)
        await self._call_tool("read_file", path=f"file_{number % 10}.txt")

    async def _run_command(self) -> None:
        await self._call_tool("bash", command="seq 1 1000")

    async def _chat(self) -> None:
        session_id = f"soak{self.done['chats']}"
        body = {"message": "50 0.001", "session_id": session_id, "user_id": "", "agent_id": "default"}
        async with self._client.post("/api/v1/agent/chat", json=body) as response:
            assert response.status == 200, await response.text()
            await response.read()
        async with self._client.delete(f"/api/sessions/{session_id}") as response:
            assert response.status < 300, await response.text()

    async def _read_events(self) -> None:
        async with self._client.get("/api/events") as events:
            for _ in range(20):
                await events.content.readline()

    async def _use_mcp(self) -> None:
        async def send(method: str, session: str, **params: Any) -> aiohttp.ClientResponse:
            headers = {"Accept": "application/json, text/event-stream"} | (
                {"Mcp-Session-Id": session} if session else {}
            )
            body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            async with self._client.post("/mcp", json=body, headers=headers) as response:
                assert response.status == 200, await response.text()
                await response.read()
                return response

        me = {"name": "soak", "version": "1"}
        begun = await send("initialize", "", protocolVersion="2025-06-18", capabilities={}, clientInfo=me)
        session = begun.headers.get("Mcp-Session-Id", "")
        await send("tools/list", session)
        await send("tools/call", session, name="noop_call", arguments={"text": "some text"})
        async with self._client.delete("/mcp", headers={"Mcp-Session-Id": session}) as response:
            assert response.status < 300, await response.text()


def _sample(pid: int, state: Path) -> dict[str, float]:
    size = 0
    for folder, names, files in os.walk(state):
        if Path(folder) == state:
            names[:] = [name for name in names if name not in {"record", "logs"}]
            files = [name for name in files if not name.startswith("state.sqlite3")]  # noqa: PLW2901
        for name in files:
            try:
                size += os.lstat(os.path.join(folder, name)).st_size
            except FileNotFoundError:
                continue
    values = (
        servers.pss_mib(pid),
        len(os.listdir(f"/proc/{pid}/fd")),
        len(os.listdir(f"/proc/{pid}/task")),
        len(list_descendants(pid)),
        size / 1024,
    )
    return dict(zip((each.name for each in _MEASURED), values, strict=True))


async def _run(
    server: servers.Running, state: Path, seconds: float
) -> tuple[list[dict[str, float]], Counter[str], dict[str, Any]]:
    headers = {"Authorization": f"Bearer {server.token}"}
    samples: list[dict[str, float]] = []
    pause_s = seconds / _SAMPLES
    began = time.monotonic()
    async with aiohttp.ClientSession(f"http://127.0.0.1:{server.port}", headers=headers) as client:
        work = _Work(client, began + seconds)
        task = asyncio.create_task(work.run())
        while not task.done():
            await asyncio.wait([task], timeout=pause_s)
            samples.append(await asyncio.to_thread(_sample, server.pid, state))
            if len(samples) % 20 == 0:
                left = max(0, seconds - (time.monotonic() - began))
                print(f"{left:.0f} s left; {dict(work.done)}; {samples[-1]}", file=sys.stderr)
        await task
        async with client.get("/api/storage") as response:
            parts = {part["kind"]: part for part in (await response.json())["parts"]}
    return samples, work.done, {kind: parts[kind] for kind in ("record", "log")}


def main() -> int:
    """Work, print the table, and exit 1 if something is not flat."""
    seconds = float(sys.argv[1]) if sys.argv[1:] else 3600.0
    with tempfile.TemporaryDirectory() as folder, provider() as base_url:
        app = _APP | {"models": {"m": {"provider": "openai", "base_url": base_url}}}
        place = Path(folder) / "app"
        with servers.agentcore(place, {"noop": NOOP.format(name="noop_call")}, app) as server:
            samples, done, bounded = asyncio.run(_run(server, place.with_name("app-state"), seconds))
    print(f"{seconds:.0f} s: {json.dumps(done)}")
    for kind, part in bounded.items():
        print(f"{kind}: {part['usedBytes'] / 1e6:.1f} MB, at most {part['limitBytes'] / 1e6:.1f} MB")
    print()
    print("| what | second quarter | last quarter | |\n|---|--:|--:|---|")
    is_flat = all(part["usedBytes"] <= part["limitBytes"] * 1.1 for part in bounded.values())
    for each in _MEASURED:
        values = [sample[each.name] for sample in samples]
        second, last = each.quarters(values)
        print(f"| {each.name} | {second:.1f} | {last:.1f} | {'flat' if each.is_flat(values) else '**grows**'} |")
        is_flat &= each.is_flat(values)
    return 0 if is_flat else 1


if __name__ == "__main__":
    sys.exit(main())
