"""Under load: a host, the server, NATS, or the link of one host is killed, and comes back."""

import asyncio
import random
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import Row
from benchmarks.pool import outcome
from benchmarks.pool.far_calls import p99
from benchmarks.pool.farm import Farm, note
from benchmarks.pool.load import Load
from tests.hosts.network.relay import Relay, relay_to

_RESTART_SECONDS = 1.0
_BEFORE_SECONDS = 5.0
_AFTER_SECONDS = 15.0
_OF_EACH_HOST = 5
"""So many sessions of each host are looked at where all of them are hit."""


@dataclass(frozen=True)
class Size:
    """How large it all is, and for how long hosts are killed."""

    hosts: int = 20
    sessions: int = 1_000
    in_flight: int = 50
    seconds: float = 60.0
    every_s: float = 10.0

    @property
    def label(self) -> str:
        """For the table."""
        return f"{self.sessions:,} sessions on {self.hosts} hosts"


async def hosts_killed(folder: Path, size: Size) -> list[Row]:
    """A host is killed every ten seconds, and started again a second later."""
    farm = Farm(folder, size.hosts, ["counting"])
    async with farm.running():
        load = Load(farm, size.sessions, size.in_flight)
        began = time.perf_counter()
        await load.once()
        made_s = time.perf_counter() - began
        load.took_ms.clear()
        async with load.running():
            began, until = time.perf_counter(), time.perf_counter() + size.seconds
            while (left := until - time.perf_counter()) > 0:
                await asyncio.sleep(min(left, size.every_s))
                if time.perf_counter() < until:
                    await _kill_a_host(farm, load)
            seconds, answered = time.perf_counter() - began, len(load.took_ms)
            memory = farm.memory_mib()
    what = f"{size.label}, one killed every {size.every_s:g} s for {seconds:.0f} s"
    return [
        Row(f"{size.label}: all of them made", made_s, 0, None, "s"),
        *outcome.rows(what, farm, load),
        Row(f"{what}: calls answered", answered / seconds, 0, None, "/s"),
        Row(f"{what}: a call, p50", statistics.median(load.took_ms), 0, None),
        Row(f"{what}: a call, p99", p99(load.took_ms), 0, None),
        *(Row(f"{what}: memory of {name} (PSS)", mib, 0, None, "MiB") for name, mib in memory.items()),
    ]


async def _kill_a_host(farm: Farm, load: Load) -> None:
    name = random.choice(list(farm.hosts))
    hit = load.on(name)
    farm.kill_host(name)
    load.disrupted(f"host {name}", hit)
    note("killed", name, "with", len(hit), "sessions;", len(load.took_ms), "calls so far")
    asyncio.get_running_loop().call_later(_RESTART_SECONDS, farm.hosts[name].start)


@asynccontextmanager
async def _loaded(farm: Farm, size: Size) -> AsyncIterator[Load]:
    """A block that begins under load, and after which that goes on for a while."""
    load = Load(farm, size.sessions, size.in_flight)
    await load.once()
    async with load.running():
        await asyncio.sleep(_BEFORE_SECONDS)
        yield load
        await asyncio.sleep(_AFTER_SECONDS)


async def server_killed(folder: Path, size: Size) -> list[Row]:
    """The server is killed, and started again at once; calls on their way are asked for again by their ids."""
    farm = Farm(folder, size.hosts, ["counting"])
    async with farm.running():
        async with _loaded(farm, size) as load:
            load.disrupted("server", load.some_of_each(_OF_EACH_HOST))
            farm.server.kill()
            farm.server.start()
            await farm.is_served()
            note("the server answers again")
            await load.ask_again()
        return outcome.rows(f"{size.label}, the server killed", farm, load)


async def nats_killed(folder: Path, size: Size) -> list[Row]:
    """NATS is killed, and started again a second later."""
    farm = Farm(folder, size.hosts, ["counting"])
    async with farm.running():
        async with _loaded(farm, size) as load:
            load.disrupted("nats-server", load.some_of_each(_OF_EACH_HOST))
            farm.nats.kill()
            await asyncio.sleep(_RESTART_SECONDS)
            farm.nats.start()
        return outcome.rows(f"{size.label}, nats-server killed", farm, load)


async def link_cut(folder: Path, size: Size) -> list[Row]:
    """The link of one host is cut for a second: what lives there lives on."""
    return await _link_lost(folder, size, 1.0, "cut for 1 s")


async def link_gone(folder: Path, size: Size) -> list[Row]:
    """The link of one host is cut for longer than a host counts as living: others do what it did."""
    return await _link_lost(folder, size, 8.0, "cut for 8 s")


async def _link_lost(folder: Path, size: Size, down_s: float, said: str) -> list[Row]:
    farm = Farm(folder, size.hosts - 1, ["counting"])
    async with relay_to("127.0.0.1", farm.nats.port) as relay:
        host = farm.add("far", f"nats://127.0.0.1:{relay.address[1]}")
        async with farm.running():
            async with _loaded(farm, size) as load:
                load.disrupted(f"link of one host, {said}", load.on("far"))
                if down_s > _RESTART_SECONDS:
                    farm.gone.add(("far", host.pid))
                await _cut(relay, down_s)
            return outcome.rows(f"{size.label}, the link of one {said}", farm, load)


async def _cut(relay: Relay, down_s: float) -> None:
    async with relay.down(at_least_s=down_s):
        pass
