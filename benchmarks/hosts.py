"""Modules in a process of their own: what a call, the process and its start cost there; and a call on other machines.

A call is counted in processor time, of all processes that work for it: other programs disturb that least, and as they
take turns it is also the time that the call takes on a machine that does nothing else.
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from agentcore.api.tool_context import Principal
from agentcore.core.calls.call import CallRequest
from agentcore.core.core import Core
from agentcore.supervision.descendants import list_descendants
from benchmarks import servers
from benchmarks.calls import BODY, NOOP
from benchmarks.measure import Row
from benchmarks.own_host import open_host
from benchmarks.pool import far_calls

_ROUNDS = 30
_CALLS = 100
_STARTS = 7
_ARGUMENTS = json.loads(BODY)["arguments"]
_IMPORT = "import agentcore.api"

Work = Callable[[], Awaitable[None]]


def run() -> list[Row]:
    """Measure, and give the rows."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        calls = [*asyncio.run(_calls(place / "calls")), *asyncio.run(far_calls.rows(place / "far", _calling))]
        return [*calls, *asyncio.run(_process(place / "process"))]


# -- a call ------------------------------------------------------------------------------------------------------

_ECHO = """
import asyncio, sys

class Echo(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport = transport
    def data_received(self, data):
        self.transport.write(data)

async def main():
    server = await asyncio.get_running_loop().create_unix_server(Echo, sys.argv[1])
    print("ready", flush=True)
    await server.serve_forever()

asyncio.run(main())
"""


class _Echoed(asyncio.Protocol):
    """The client's end of the echo: the least that asyncio needs to send a message and wait for its like."""

    transport: asyncio.Transport

    def __init__(self) -> None:
        self._answer: asyncio.Future[None] | None = None
        self._left = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self._left -= len(data)
        if self._left <= 0 and self._answer is not None:
            self._answer.set_result(None)

    async def send(self, message: bytes) -> None:
        """Send, and wait for the echo."""
        self._answer = asyncio.get_running_loop().create_future()
        self._left = len(message)
        self.transport.write(message)
        await self._answer


@asynccontextmanager
async def _echo(folder: Path) -> AsyncIterator[Work]:
    """A bare echo in another process, with a message as long as that of a call."""
    path = str(folder / "echo")
    with subprocess.Popen([sys.executable, "-c", _ECHO, path], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        loop = asyncio.get_running_loop()
        transport, echoed = await loop.create_unix_connection(_Echoed, path)
        message = b"x" * 400

        async def send() -> None:
            await echoed.send(message)

        yield send
        transport.close()
        process.kill()


async def _calls(folder: Path) -> list[Row]:
    (folder / "modules").mkdir(parents=True)
    for name in ("here", "there"):
        (folder / "modules" / f"{name}.py").write_text(NOOP.format(name=f"{name}_call"))
    app = {"modules": ["here", "there"], "hosts": {"bench": {"kind": "process", "modules": ["there"]}}}
    async with open_host(folder, app) as core, _echo(folder) as echo:
        works = [_calling(core, "there_call"), _calling(core, "here_call"), echo]
        costs = await _in_turn(works, _tree_cpu_ms)
        times = await _in_turn(works, lambda: time.perf_counter() * 1000)
        what = "no-op call in a process of its own, on top of one in the server, against a bare echo"
        single = await far_calls.on_top(what, *works)
    return [
        _on_top("no-op call in a process of its own, on top of one in the server, CPU time", costs, 1.8),
        _on_top("the same on the clock", times, None),
        *single,
    ]


def _calling(core: Core, tool: str) -> Work:
    async def call() -> None:
        outcome = await core.run_call(CallRequest(tool, dict(_ARGUMENTS), Principal("cli")))
        assert outcome.ok, outcome.error

    return call


async def _in_turn(works: list[Work], spent_ms: Callable[[], float]) -> list[list[float]]:
    """What one piece of each work costs, round by round, in an order that changes."""
    costs: list[list[float]] = [[] for _ in works]
    for turn in range(_ROUNDS + 3):
        order = list(enumerate(works))
        for index, work in order[turn % 3 :] + order[: turn % 3]:
            began = spent_ms()
            for _ in range(_CALLS):
                await work()
            if turn >= 3:
                costs[index].append((spent_ms() - began) / _CALLS)
    return costs


def _on_top(what: str, costs: list[list[float]], target: float | None) -> Row:
    there, here, echo = costs
    ratio = statistics.median((t - h) / e for t, h, e in zip(there, here, echo, strict=True))
    on_top = statistics.median(t - h for t, h in zip(there, here, strict=True))
    return Row(f"{what}, against a bare echo", on_top, statistics.median(echo), target, paired=ratio)


def _tree_cpu_ms() -> float:
    return sum(map(servers.cpu_ms, (os.getpid(), *list_descendants(os.getpid()))))


# -- the process -------------------------------------------------------------------------------------------------


async def _process(folder: Path) -> list[Row]:
    """Its memory and its start, against a process that imports what modules are written with and no more."""
    (folder / "modules").mkdir(parents=True)
    names = ("one", "two")
    for name in names:
        (folder / "modules" / f"{name}.py").write_text(NOOP.format(name=f"{name}_call"))
    app = {
        "modules": list(names),
        "hosts": {name: {"kind": "process", "modules": [name]} for name in names},
    }
    memory: list[tuple[float, float]] = []
    starts: list[float] = []
    together: list[float] = []
    imports: list[float] = []
    async with open_host(folder, app) as core:
        for _ in range(_STARTS):
            imports.append(await asyncio.to_thread(_import_ms))
            await core.modules.disable("one")
            await core.modules.disable("two")
            began = time.perf_counter()
            await core.modules.enable("one")
            starts.append((time.perf_counter() - began) * 1000)
            await core.modules.disable("one")
            began = time.perf_counter()
            await core.modules.start(names)
            together.append((time.perf_counter() - began) * 1000)
            memory.append(await asyncio.to_thread(_memory_mib))
    ours, bare = (statistics.median(each) for each in zip(*memory, strict=True))
    imported = statistics.median(imports)
    return [
        Row(
            "memory of a host with a no-op module (PSS), over `import agentcore.api`",
            ours,
            bare,
            8,
            "MiB",
            is_difference=True,
        ),
        Row("start of a host and its module, against that import", statistics.median(starts), imported, 1.5),
        Row("two hosts at once, against that import", statistics.median(together), imported, None),
    ]


def _import_ms() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-P", "-c", _IMPORT], check=True, stdin=subprocess.DEVNULL)
    return (time.perf_counter() - began) * 1000


def _memory_mib() -> tuple[float, float]:
    """PSS of a host, and of a process that has imported the API, while both are there."""
    code = f"{_IMPORT}\nprint('ready', flush=True)\ninput()"
    with subprocess.Popen(
        [sys.executable, "-P", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as bare:
        assert bare.stdout is not None
        bare.stdout.readline()
        hosts = [pid for pid in list_descendants(os.getpid()) if b"agentcore.hosts.worker" in _command(pid)]
        found = servers.pss_mib(hosts[0]), servers.pss_mib(bare.pid)
        bare.kill()
    return found


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
