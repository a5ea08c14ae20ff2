"""The shell tools in process: a flood of output against `cat >/dev/null`, and what it does to the event loop."""

import asyncio
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil

from benchmarks.measure import Row, alternate_async
from benchmarks.own_host import calling

_MEGABYTES = 500
_ROUNDS = 5
_TICK_SECONDS = 0.001
_PROCESSES = 50
_FOLDERS = 14_000
_COMMANDS = 40


def run() -> list[Row]:
    """Measure, and give the rows."""
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_measure(Path(folder)))


async def _measure(folder: Path) -> list[Row]:
    root = folder / "workspace"
    write_flood(root / "flood.txt")
    async with calling(folder, "shell_tools", {"sandbox": "off"}) as call:
        rows = [*await _flood(root, call), await _start(call)]
    return [*rows, await measure_large_workspace(folder)] if shutil.which("bwrap") else rows


def write_flood(path: Path) -> None:
    """Write 500 MB of lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    line = b"a line of a usual length, as programs write them when they have a lot to tell\n"
    block = line * (1_000_000 // len(line))
    with path.open("wb") as file:
        for _ in range(_MEGABYTES):
            file.write(block)


async def read_flood(call: Any) -> None:
    """Have a background process write them, until it has ended."""
    started = await call("bash", command="cat flood.txt", background=True)
    ended = await call("bash_output", process_id=started.data["process_id"], block=True, timeoutMs=600_000)
    assert ended.data["exited"]
    assert ended.data["dropped_lines"] > 1_000_000


async def _flood(root: Path, call: Any) -> list[Row]:
    async def ours() -> None:
        await read_flood(call)

    async def floor() -> None:
        process = await asyncio.create_subprocess_exec("bash", "-c", "cat flood.txt | cat >/dev/null", cwd=root)
        await process.wait()

    await ours()
    own = psutil.Process()
    before = own.memory_info().rss
    lateness = _Lateness()
    async with lateness:
        for _ in range(2):
            await ours()
    grown = (own.memory_info().rss - before) / 2**20
    beside = _Lateness()
    async with beside:
        for _ in range(2):
            await floor()
    times = await alternate_async(ours, floor, _ROUNDS, warm_up=1)
    subject, bare = (_MEGABYTES / milliseconds * 1000 for milliseconds in times)
    return [
        Row(
            f"{_MEGABYTES} MB through a background process, against cat >/dev/null",
            subject, bare, 0.8, "MB/s", at_least=True,
        ),
        Row("memory that this adds", max(grown, 0.0), 0, 16, "MiB"),
        Row("lateness of the event loop meanwhile, 99th percentile", lateness.percentile(99), 0, 5),
        Row("the same beside cat alone", beside.percentile(99), 0, None),
    ]  # fmt: skip


async def _start(call: Any) -> Row:
    async def ours() -> None:
        await asyncio.gather(*(call("bash", command="true") for _ in range(_PROCESSES)))

    async def floor() -> None:
        processes = await asyncio.gather(
            *(asyncio.create_subprocess_exec("bash", "-c", "true") for _ in range(_PROCESSES))
        )
        await asyncio.gather(*(process.wait() for process in processes))

    return Row(f"{_PROCESSES} commands at once, against bash alone", *await alternate_async(ours, floor, _ROUNDS), None)


async def measure_large_workspace(folder: Path) -> Row:
    """Measure `true` in the sandbox over a workspace of many folders, against one over an empty workspace."""
    large = folder / "large"
    empty = folder / "empty"
    for number in range(_FOLDERS):
        (large / "workspace" / str(number % 120) / str(number)).mkdir(parents=True)
    empty.mkdir()
    settings = {"sandbox": "require"}
    async with calling(large, "shell_tools", settings) as in_large, calling(empty, "shell_tools", settings) as in_empty:
        times = await alternate_async(
            lambda: in_large("bash", command="true"), lambda: in_empty("bash", command="true"), _COMMANDS, warm_up=2
        )
    return Row(f"`true` in a workspace of {_FOLDERS:,} folders, against an empty one", *times, 1.3)


class _Lateness:
    """How late the event loop comes to what is due, sampled every millisecond."""

    def __init__(self) -> None:
        self._samples: list[float] = []

    async def __aenter__(self) -> None:
        self._task = asyncio.create_task(self._sample())

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        await asyncio.wait((self._task,))

    async def _sample(self) -> None:
        while True:
            due = time.perf_counter() + _TICK_SECONDS
            await asyncio.sleep(_TICK_SECONDS)
            self._samples.append((time.perf_counter() - due) * 1000)

    def percentile(self, percent: int) -> float:
        return statistics.quantiles(self._samples, n=100)[percent - 1]
