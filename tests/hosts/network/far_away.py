"""A server behind nginx in the internet, and a host on a machine behind NAT: both as people would set them up."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import programs
from tests.hosts.network.certificates import Certificates, make_certificates
from tests.hosts.network.connect_proxy import ConnectProxy, connect_proxy
from tests.hosts.network.machine import INTERNET, ROUTER, OtherMachine, only_child, other_machine, reason_against
from tests.hosts.network.relay import LOOPBACK, Relay, relay_to
from tests.hosts.network.reverse_proxy import DOCUMENTED, NAMES, reverse_proxy
from tests.hosts.two_machines import Place, Server, Worker, serving

ADDRESS = f"https://{NAMES[0]}"
"""Where the host dials: the name and port of the document."""
PROXY_PORT = 3128


def why_not() -> str:
    """Why there can be no such thing here; empty: there can."""
    return reason_against() or ("" if programs.find("nginx") else "no nginx on PATH")


class FarWorker(Worker):
    """`agentcore host` that runs on the other machine: what is here is the program that waits for it."""

    def send(self, number: signal.Signals) -> None:
        """Send its process a signal."""
        with contextlib.suppress(OSError, IndexError):
            os.kill(only_child(self.process.pid), number)


@dataclass
class FarAway:
    """All of it, while it runs.

    Attributes:
        near: The server's machine.
        far: The folder of the host's.
        machine: The host's machine, and its network.
        relay: Between nginx and the server.
    """

    near: Place
    far: Place
    machine: OtherMachine
    certificates: Certificates
    relay: Relay
    server: Server

    @asynccontextmanager
    async def dialling(self, *arguments: str, **environ: str) -> AsyncIterator[FarWorker]:
        """`agentcore host --server https://…` on the machine, which knows nothing of a proxy but by `environ`."""
        own = {name: value for name, value in self.far.environ.items() if not name.lower().endswith("_proxy")}
        process = await self.machine.start(
            *(sys.executable, "-u", "-m", "agentcore", "host", "--server", ADDRESS, "--name", "laptop", *arguments),
            env=own | environ,
            cwd=self.far.folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            limit=1 << 24,
        )
        worker = FarWorker(process)
        reading = asyncio.create_task(worker.read())
        try:
            yield worker
        finally:
            worker.send(signal.SIGTERM)
            await process.wait()
            await reading

    @asynccontextmanager
    async def paired(self, *arguments: str, **environ: str) -> AsyncIterator[FarWorker]:
        """The same of a host that was let in, and is connected."""
        async with self.dialling("--ca", str(self.certificates.authority), *arguments, **environ) as worker:
            await self.server.let_in(await worker.code())
            await self.server.host_is("laptop", "running")
            yield worker

    @asynccontextmanager
    async def only_by_proxy(self, credentials: str = "") -> AsyncIterator[ConnectProxy]:
        """Close the machine's router for all but a proxy on it."""
        await self.machine.close_router()
        names = {f"{NAMES[0]}:443": (INTERNET, 443)}
        async with connect_proxy(
            names, credentials=credentials, network=self.machine.router, address=(ROUTER, PROXY_PORT)
        ) as proxy:
            yield proxy


@asynccontextmanager
async def far_away(folder: Path, near: Place, far: Place) -> AsyncIterator[FarAway]:
    """A server that runs, and a machine that reaches it by TLS, by nginx, and by nothing else.

    Args:
        folder: A new folder.
        near: The server's machine; `server.hosts` has to name `NAMES[0]`.
        far: What is on the other one.
    """
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(serving(near))
        machine = await stack.enter_async_context(other_machine())
        port = int(server.address.rpartition(":")[2])
        documented = (LOOPBACK, DOCUMENTED[NAMES[0]])
        relay = await stack.enter_async_context(relay_to(LOOPBACK, port, network=machine.internet, address=documented))
        certificates = make_certificates(folder / "certificates", *NAMES)
        await stack.enter_async_context(
            reverse_proxy(
                *("nginx", folder / "nginx", 443, DOCUMENTED, certificates), address=INTERNET, network=machine.internet
            )
        )
        await machine.name(INTERNET, *NAMES)
        yield FarAway(near, far, machine, certificates, relay, server)


def near_place(folder: Path, **app: Any) -> Place:
    """The server's machine, with the names of the document."""
    return Place(folder / "near", **{"modules": [], "server": {"hosts": list(NAMES[:1]), "port": 0}, **app})
