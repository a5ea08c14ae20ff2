"""A server and a host on another machine, with a link between them that a test can spoil."""

import asyncio
import contextlib
import json
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentcore.supervision.descendants import list_descendants
from tests.hosts.network.relay import LOOPBACK, Relay, relay_to
from tests.hosts.two_machines import Place, Server, Worker, dialling, paired, serving
from tests.support.waiting import wait_until

WAIT_S = 60.0

COUNTING = '''
import asyncio, os
from agentcore.api import Image, Module, ResourceUse, ToolContext, ToolResult, tool


class Counting(Module):
    """Notes each run of its tools in a file."""

    def _note(self, folder: str, line: str) -> None:
        with open(os.path.join(folder, "log"), "a") as log:
            log.write(f"{line}\\n")

    @tool(timeout_s=300)
    async def work(self, ctx: ToolContext, number: int, folder: str, waits: bool = True) -> dict:
        """Note that it began, and end once it may."""
        self._note(folder, str(number))
        try:
            while waits and not any(os.path.exists(os.path.join(folder, each)) for each in ("go", f"go {number}")):
                await asyncio.sleep(0.02)
        except asyncio.CancelledError:
            self._note(folder, f"cancelled {number}")
            raise
        if os.path.exists(os.path.join(folder, f"go {number}")):
            self._note(folder, f"ends {number}")
        return {"number": number}

    @tool(read_only=True)
    async def weigh(self, size: int, folder: str) -> str:
        """Give a text of a size."""
        self._note(folder, f"weighed {size}")
        return "x" * size

    @tool(read_only=True)
    async def draw(self, size: int) -> ToolResult:
        """Give a picture of a size."""
        return ToolResult((Image(b"\\x89PNG" + os.urandom(size)),))

    @tool(resource=ResourceUse("box", create=True))
    async def fill(self, ctx: ToolContext, folder: str, resourceId: str | None = None) -> str:
        """Make a box, and note when it is closed."""
        box = ctx.resource.resource_id

        async def end(resource) -> None:
            self._note(folder, f"closed {box}")

        if ctx.resource.status != "ready":
            self.runtime.resources.adopt(box, end)
            self.runtime.resources.update(box, status="ready", title="a box")
        self._note(folder, f"filled {box}")
        return box
'''


@dataclass
class Linked:
    """Both, while they run.

    Attributes:
        near: The server's machine.
        far: The host's.
        relay: What the host dials, instead of the server.
        work: A folder that the tools write to.
    """

    near: Place
    far: Place
    relay: Relay
    work: Path
    server: Server
    worker: Worker

    @property
    def address(self) -> str:
        """Where the host dials."""
        return f"http://{LOOPBACK}:{self.relay.address[1]}"

    def runs(self) -> Counter[str]:
        """What the tools have noted, each with how often."""
        log = self.work / "log"
        return Counter(log.read_text().splitlines() if log.exists() else ())

    async def begun(self, *numbers: int) -> None:
        """Wait until these runs of `work` have begun."""
        await wait_until(lambda: set(map(str, numbers)) <= set(self.runs()))

    def let_end(self) -> None:
        """Let all runs of `work` end."""
        (self.work / "go").touch()

    def let_end_of(self, *numbers: int) -> None:
        """Let some of them end, and those note it."""
        for number in numbers:
            (self.work / f"go {number}").touch()

    def working(self, number: int, **options: Any) -> asyncio.Task[Any]:
        """Call `work`; its answer."""
        calling = self.server.call("work", number=number, folder=str(self.work), **options)
        return asyncio.create_task(calling, name=f"work:{number}")


@asynccontextmanager
async def linked(
    folder: Path, *, environs: tuple[Mapping[str, str], Mapping[str, str]] = ({}, {}), **near: Any
) -> AsyncIterator[Linked]:
    """A server with a host `laptop` that was let in, and what they leave behind looked for at the end.

    Args:
        folder: A new folder for both machines.
        environs: What the environments of server and host have besides.
        near: Of the server's app.json, besides the relay's name.
    """
    (work := folder / "work").mkdir()
    async with relay_to(LOOPBACK, 0) as relay:
        names = {"hosts": [f"{LOOPBACK}:{relay.address[1]}"], "port": 0}
        server_place = Place(folder / "near", **{"modules": [], "server": names, **near})
        host_place = Place(folder / "far", modules=["counting"])
        host_place.add_module("counting", COUNTING)
        server_place.environ.update(environs[0])
        host_place.environ.update(environs[1])
        async with serving(server_place) as server:
            relay.port = int(server.address.rpartition(":")[2])
            address = f"http://{LOOPBACK}:{relay.address[1]}"
            async with paired(server, host_place, "laptop", address=address) as worker:
                both = Linked(server_place, host_place, relay, work, server, worker)
                yield both
                assert defects(both) == []
    assert processes_of(folder) == []


@asynccontextmanager
async def serving_again(both: Linked) -> AsyncIterator[Server]:
    """The next server on the server's machine, reached through the same relay."""
    async with serving(both.near) as server:
        both.server, both.relay.port = server, int(server.address.rpartition(":")[2])
        yield server
        assert defects(both) == []


@asynccontextmanager
async def dialling_again(both: Linked, **environ: str) -> AsyncIterator[Worker]:
    """The next start of the host's program, with the key that it has."""
    async with dialling(both.far, both.address, "laptop", **environ) as worker:
        both.worker = worker
        yield worker
        assert defects(both) == []


def defects(both: Linked) -> list[Any]:
    """What the two have logged that no fault of a link accounts for."""
    told = [json.loads(line) for line in both.worker.lines if line.startswith("{")]
    return [line for line in (*both.server.log, *told) if line["level"] in ("error", "critical") or "exception" in line]


def text_of(end: Any) -> str:
    """The text of a result."""
    assert end["ok"], end
    return str(end["content"][0]["text"])


def processes_of(folder: Path) -> list[int]:
    """Processes that were started below this one, and work in a folder, or were told of it."""
    found = []
    for pid in list_descendants(1):
        with contextlib.suppress(OSError):
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
            place = str(Path(f"/proc/{pid}/cwd").readlink())
            if command and (str(folder) in place or str(folder).encode() in command):
                found.append(pid)
    return found
