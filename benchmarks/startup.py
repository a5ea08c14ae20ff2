"""The command line's `--help`, and finding modules among many packages. The start of a server is in `budget`."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.calls import NOOP
from benchmarks.measure import Row, alternate

FIND_THREE = (
    "from agentcore.core.discovery.source_search import find_module\n"
    "for n in range(3): find_module(f'installed_{n}', None).load()"
)
"""What a Python is told to do beside that folder."""


def run() -> list[Row]:
    """Measure, and give the rows."""
    with tempfile.TemporaryDirectory() as folder:
        return [_help(), *_discovery(Path(folder))]


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
