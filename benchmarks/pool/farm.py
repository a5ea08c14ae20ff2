"""A whole pool: NATS, hosts and one server, and what each has in memory."""

import asyncio
import os
import sys
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from benchmarks import servers
from benchmarks.pool.programs import TOKEN, Nats, Program, settle, stop_all

COUNTING = '''
import asyncio, os
from agentcore.api import Module, ResourceUse, ToolContext, tool


class Counting(Module):
    """Counts, for each session in a counter of its own."""

    @tool(resource=ResourceUse("counter", create=True), timeout_s=60)
    async def count(self, ctx: ToolContext, ticket: str, pause_ms: int = 20, resourceId: str | None = None) -> dict:
        """Count on, and note that this call ran."""
        own = ctx.resource
        if own.status != "ready":
            own.keys["count"] = "0"
            self.runtime.resources.adopt(own.resource_id, self._end)
            self.runtime.resources.update(own.resource_id, status="ready", title="a counter")
        place = ctx.workspace.roots[0]
        with open(place / "runs", "a") as runs:
            runs.write(f"{ctx.call_id} {ticket}\\n")
        count = int(own.keys["count"]) + 1
        own.keys["count"] = str(count)
        await asyncio.sleep(pause_ms / 1000)
        return {"count": count, "host": place.parent.name, "pid": os.getpid()}

    async def _end(self, resource) -> None:
        pass
'''


@dataclass(eq=False)
class Runs:
    """What ran, as the hosts have noted it.

    Args:
        calls: How often each call did, by its id.
        tickets: The same by the ticket that whoever asked gave it.
        call_ids: The id of each ticket's call.
    """

    calls: Counter[str] = field(default_factory=Counter)
    tickets: Counter[str] = field(default_factory=Counter)
    call_ids: dict[str, str] = field(default_factory=dict)


class Farm:
    """A pool whose programs can be killed.

    Args:
        modules: What its hosts run.
        config: The settings of these.
        capacity: How many resources each host takes.

    Attributes:
        gone: The starts of hosts (name and process id) that were killed, or are to be given up.
    """

    def __init__(
        self, folder: Path, hosts: int, modules: list[str], *, capacity: int = 100, config: Mapping[str, Any] = {}
    ) -> None:
        self.folder, self.port, self.nats = folder, servers.free_port(), Nats(folder / "nats")
        self._modules, self._capacity, self._config = modules, capacity, dict(config)
        self.hosts: dict[str, Program] = {}
        for number in range(hosts):
            self.add(f"h{number:02}", self.nats.address)
        farm = {"kind": "nats", "servers": [self.nats.address], "modules": modules}
        # the server lists what its hosts bring: what it defines alike needs nobody's word
        app = {"modules": modules, "hosts": {"farm": farm}, "approvals": {"mode": "allow"}, "config": self._config}
        self._add_counting(folder / "server")
        self.server = Program.of_server(folder / "server", self.port, app)
        self.gone: set[tuple[str, int]] = set()
        self._http: aiohttp.ClientSession

    def add(self, name: str, address: str) -> Program:
        """Have a host that reaches NATS at an address; it is not started."""
        place = self.folder / name
        self._add_counting(place)
        words = ("--server", address, "--pool", "farm", "--capacity", str(self._capacity))
        self.hosts[name] = Program.of_host(place, name, self._modules, *words, config=self._config)
        return self.hosts[name]

    def _add_counting(self, place: Path) -> None:
        (place / "modules").mkdir(parents=True, exist_ok=True)
        if "counting" in self._modules:
            (place / "modules" / "counting.py").write_text(COUNTING)

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Farm"]:
        """A block in which all of it runs."""
        try:
            self.nats.start()
            await self.nats.is_up()
            for host in self.hosts.values():
                host.start()
            self.server.start()
            connector, headers = aiohttp.TCPConnector(limit=0), {"Authorization": f"Bearer {TOKEN}"}
            async with aiohttp.ClientSession(
                f"http://127.0.0.1:{self.port}", headers=headers, connector=connector
            ) as self._http:
                await self.is_there(*self.hosts)
                yield self
        finally:
            await asyncio.to_thread(stop_all, [self.server, *self.hosts.values(), self.nats])

    # -- what it is asked ------------------------------------------------------------------------------------------

    async def call(self, tool: str, session_id: str, call_id: str | None = None, **arguments: Any) -> Any:
        """What a call ends with; None: the server went away before it said so."""
        body = {"arguments": arguments, "session_id": session_id, "timeout_ms": 30_000}
        if call_id is not None:
            body["call_id"] = call_id
        return await self._answer("POST", f"/api/tools/{tool}/call", json=body)

    async def get(self, path: str) -> Any:
        """What the server says; None: nothing."""
        return await self._answer("GET", path)

    async def _answer(self, method: str, path: str, **rest: Any) -> Any:
        try:
            async with self._http.request(method, path, **rest) as response:
                return await response.json()
        except aiohttp.ClientConnectorError:
            return {"ok": False, "error": {"type": "server_away"}} if method == "POST" else None
        except (aiohttp.ClientError, OSError):
            return None

    async def is_there(self, *names: str) -> None:
        """Wait until the server has hosts."""

        async def look() -> bool:
            answer = await self.get("/api/hosts") or {"hosts": []}
            there = {each["name"] for each in answer["hosts"] if each["state"] == "running"}
            return {f"farm.{name}" for name in names} <= there

        await settle(look, 0.1)

    async def is_served(self) -> None:
        """Wait until the server answers."""
        await settle(lambda: self.get("/api/health"))

    # -- what becomes of it ----------------------------------------------------------------------------------------

    def kill_host(self, name: str) -> None:
        """End a host as a crash does."""
        self.gone.add((name, self.hosts[name].pid))
        self.hosts[name].kill()

    def runs(self) -> Runs:
        """What ran so far."""
        found = Runs()
        for name in self.hosts:
            file = self.folder / name / "workspace" / "runs"
            for line in file.read_text().splitlines() if file.exists() else ():
                call_id, _, ticket = line.partition(" ")
                found.calls[call_id] += 1
                found.tickets[ticket] += 1
                found.call_ids[ticket] = call_id
        return found

    def memory_mib(self) -> dict[str, float]:
        """What the server, one host and NATS have in memory (PSS)."""
        host = next(iter(self.hosts.values()))
        named = {"server": self.server, "host": host, "nats-server": self.nats}
        return {name: servers.pss_mib(program.pid) for name, program in named.items()}


def note(*words: object) -> None:
    """Tell how far it is, to whoever waits."""
    print(f"[{os.times().elapsed % 10_000:.0f}]", *words, file=sys.stderr, flush=True)
