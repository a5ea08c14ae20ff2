"""Real pages over hosts of a pool, one of which is killed in the middle."""

import asyncio
import contextlib
import random
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from agentcore.supervision.descendants import list_descendants
from benchmarks import servers
from benchmarks.browser_hosts import find_browser, serve_pages, settings
from benchmarks.measure import Row
from benchmarks.pool.farm import Farm, note
from benchmarks.pool.kills import Size

_PAGES, _HOSTS, _AT_ONCE = 40, 4, 4
_AGAIN_SECONDS = 0.2
_TEXT = "document.body.innerText"


async def pages(folder: Path, size: Size) -> list[Row]:
    """Forty pages over four hosts; those of a host that is killed come anew on others."""
    program = find_browser()
    if program is None:
        print("there is no Chromium here: pages on hosts are left out", file=sys.stderr)
        return []
    count, hosts = min(_PAGES, size.sessions), min(_HOSTS, size.hosts)
    label = f"{count} pages on {hosts} hosts"
    farm = Farm(folder, hosts, ["browser"], config=settings(program))
    async with serve_pages() as address, farm.running():
        visits = _Visits(farm, f"{address}/")
        made_s = await visits.all(range(count))
        made, memory = list(visits.took_ms), _memory_mib(farm)
        visits.took_ms.clear()
        await visits.all(range(count))
        name = random.choice(list(farm.hosts))
        hit = await visits.on(name)
        note("killed", name, "with", len(hit), "pages")
        farm.kill_host(name)
        began = time.perf_counter()
        lost_s = await visits.all(hit)
        others_s = await visits.all(set(range(count)) - set(hit))
        note("pages of the others:", f"{others_s:.1f} s;", dict(visits.errors), time.perf_counter() - began)
    return [
        Row(f"{label}: all of them made and read, {_AT_ONCE} at one time", made_s, 0, None, "s"),
        Row(f"{label}: a page made and read, p50", statistics.median(made), 0, None),
        Row(f"{label}: one gone to again and read, p50", statistics.median(visits.took_ms[:count]), 0, None),
        Row(f"{label}: memory of a host with its browser and pages (PSS)", memory / hosts, 0, None, "MiB"),
        Row(f"{label}: memory for each page (PSS)", memory / count, 0, None, "MiB"),
        Row(f"{label}, a host killed: until its {len(hit)} pages are there and read on others", lost_s, 0, None, "s"),
    ]


class _Visits:
    """Goes to a page in each session, and reads it."""

    def __init__(self, farm: Farm, url: str) -> None:
        self._farm, self._url = farm, url
        self.took_ms: list[float] = []
        self.errors: dict[str, int] = {}

    async def all(self, sessions: Any) -> float:
        """Visit in all of them; gives how long that took in seconds."""
        limit, began = asyncio.Semaphore(_AT_ONCE), time.perf_counter()

        async def visit(number: int) -> None:
            async with limit:
                await self._visit(f"p{number}")

        await asyncio.gather(*map(visit, sessions))
        return time.perf_counter() - began

    async def on(self, host: str) -> list[int]:
        """The sessions that have their page on a host."""
        found = await self._farm.get("/api/resources")
        here = [each["chatSessionId"] for each in found["resources"] if each.get("host") == f"farm.{host}"]
        return sorted({int(each[1:]) for each in here})

    async def _visit(self, session: str) -> None:
        began = time.perf_counter()
        await self._until_done("browser_navigate", session, url=self._url)
        read = await self._until_done("browser_evaluate", session, script=_TEXT)
        assert "Name 99" in str(read), read
        self.took_ms.append((time.perf_counter() - began) * 1000)

    async def _until_done(self, tool: str, session: str, **arguments: Any) -> Any:
        """Reading and going to a page may be repeated, whatever became of the first time."""
        until = time.perf_counter() + 120
        while not (answer := await self._farm.call(tool, session, **arguments) or {}).get("ok"):
            error = (answer.get("error") or {}).get("type", "no answer")
            self.errors[error] = self.errors.get(error, 0) + 1
            assert time.perf_counter() < until, answer
            await asyncio.sleep(_AGAIN_SECONDS)
        return answer


def _memory_mib(farm: Farm) -> float:
    """What all hosts have in memory, with their browsers."""
    pids = [pid for host in farm.hosts.values() for pid in (host.pid, *list_descendants(host.pid))]
    total = 0.0
    for pid in pids:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # a process of a page may end meanwhile
            total += servers.pss_mib(pid)
    return total
