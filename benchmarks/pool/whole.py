"""All runs with a pool, each in a folder of its own."""

import asyncio
import sys
import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from benchmarks.measure import Row
from benchmarks.pool import kills, pages
from benchmarks.pool.kills import Size
from benchmarks.pool.programs import nats_server

RUNS: dict[str, Callable[[Path, Size], Coroutine[Any, Any, list[Row]]]] = {
    "hosts": kills.hosts_killed,
    "server": kills.server_killed,
    "nats": kills.nats_killed,
    "link": kills.link_cut,
    "link_gone": kills.link_gone,
    "pages": pages.pages,
}


def run() -> list[Row]:
    """Measure all of it, and give the rows."""
    return measure(Size(), list(RUNS))


def measure(size: Size, names: list[str]) -> list[Row]:
    """Measure some of it.

    Args:
        names: Of `RUNS`.
    """
    if nats_server() is None:
        print("nats-server is not installed: pools are left out", file=sys.stderr)
        return []
    rows: list[Row] = []
    for name in names:
        with tempfile.TemporaryDirectory(prefix="pool-") as folder:
            rows += asyncio.run(RUNS[name](Path(folder), size))
    return rows
