"""From nothing to the first 200, the memory at that moment, and the command line's `--help`."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks import servers
from benchmarks.calls import NOOP
from benchmarks.http_client import request_bytes
from benchmarks.measure import Row, alternate

_ROUNDS = 9
ALL_MODULES = json.loads((Path(__file__).parent.parent / "app.json").read_text())["modules"]

FIND_THREE = (
    "from agentcore.core.discovery.source_search import find_module\n"
    "for n in range(3): find_module(f'installed_{n}', None).load()"
)
"""What a Python is told to do beside that folder."""


def run() -> list[Row]:
    """Measure, and give the rows."""
    with tempfile.TemporaryDirectory() as folder:
        return [*_first_answer(Path(folder)), *_first_call(Path(folder)), _help(), *_discovery(Path(folder))]


def _first_answer(folder: Path) -> list[Row]:
    ready: tuple[list[float], list[float]] = ([], [])
    memory: tuple[list[float], list[float]] = ([], [])
    for turn in range(_ROUNDS + 1):
        with servers.agentcore(folder / "app", {"noop": NOOP.format(name="noop_call")}) as ours:
            samples = (ours.ready_ms, ours.pss_mib)
        with servers.bare() as bare:
            floor = (bare.ready_ms, bare.pss_mib)
        if turn:
            ready[0].append(samples[0])
            memory[0].append(samples[1])
            ready[1].append(floor[0])
            memory[1].append(floor[1])
    return [
        Row("start to the first 200", statistics.median(ready[0]), statistics.median(ready[1]), 2.0),
        Row("memory then (PSS)", statistics.median(memory[0]), statistics.median(memory[1]), 1.8, unit="MiB"),
    ]


def request_first_call(port: int, token: str) -> bytes:
    """Return the request of a call that a server with the modules of app.json can answer."""
    body = json.dumps({"arguments": {"path": "."}}).encode()
    ends = {"Connection": "close"}
    return request_bytes("POST", "/api/tools/file_stat/call", port, body, token, headers=ends)


def _first_call(folder: Path) -> list[Row]:
    """Start with the modules of app.json, until a tool of one is answered; the floor is the start of bare aiohttp."""
    ours, floor = [], []
    for turn in range(_ROUNDS + 1):
        with servers.agentcore(folder / "all", {}, {"modules": ALL_MODULES}, first=request_first_call) as running:
            sample = running
        with servers.bare() as bare:
            lowest = bare
        if turn:
            ours.append(sample)
            floor.append(lowest)

    def middle(measured: Callable[[servers.Running], float]) -> tuple[float, float]:
        return statistics.median(map(measured, ours)), statistics.median(map(measured, floor))

    many = f"{len(ALL_MODULES)} modules"
    return [
        Row(f"start to the first call answered, {many}", *middle(lambda each: each.ready_ms), 2.2),
        Row(f"memory then (PSS), {many}", *middle(lambda each: each.pss_mib), 2.1, unit="MiB"),
    ]


def _help() -> Row:
    times = []
    for _ in range(15):
        began = time.perf_counter()
        subprocess.run([Path(sys.executable).with_name("agentcore"), "--help"], check=True, stdout=subprocess.DEVNULL)
        times.append((time.perf_counter() - began) * 1000)
    return Row("agentcore --help", statistics.median(times), 0, 150)


def make_site(site: Path) -> Path:
    """A folder with a thousand installed distributions, of which three may be imported."""
    for number in range(1000):
        info = site / f"installed_{number}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: installed-{number}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[agentcore.modules]\ninstalled_{number} = installed_{number}:Noop\n")
        source = NOOP.format(name=f"installed_{number}_call") if number < 3 else "raise SystemExit('imported')\n"
        (site / f"installed_{number}.py").write_text(source)
    return site


def _discovery(folder: Path) -> list[Row]:
    site = make_site(folder / "site")
    floor = (
        "import importlib, importlib.metadata as m\nfrom agentcore.core.discovery.source_search import find_module\n"
        "found = {e.name: e for e in m.entry_points(group='agentcore.modules')}\n"
        "for n in range(3): found[f'installed_{n}'].load()"
    )
    environ = os.environ | {"PYTHONPATH": str(site)}

    def run_python(source: str) -> None:
        subprocess.run([sys.executable, "-c", source], env=environ, check=True)

    ours, bare = alternate(lambda: run_python(FIND_THREE), lambda: run_python(floor), 7, warm_up=1)
    return [Row("finding 3 of 1,000 entry points, against reading the metadata alone", ours, bare, 1.1)]
