"""`make bench ARGS='compare BASE [NAME …]'`: is this tree slower than the commit BASE?

Both run in turn, in pairs of rounds, in which one comes right after the other, so that what disturbs the machine
disturbs both; which is first changes from pair to pair. What counts is the median of the ratios of the pairs with its
95 % interval, which assumes nothing about how they are distributed. A row is worse when the whole interval lies above
the bound: then this is no chance. A row whose interval reaches across the bound tells nothing; more rounds do.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import comb
from pathlib import Path

ROUNDS = 30
BOUND = 1.03
_WARM_UP = 2
_CONFIDENCE = 0.95
_ROOT = Path(__file__).resolve().parents[1]
_EXPORTED = ("agentcore", "plugins", "webui", "benchmarks")


@dataclass(frozen=True, slots=True)
class Comparison:
    """One line of the table.

    Args:
        name: What was measured, and in which unit.
        base: Median of the old commit.
        subject: Median of this tree.
        ratio: Median of the ratios of pairs.
        low: Lower end of its 95 % interval, …
        high: … and the upper one.
    """

    name: str
    base: float
    subject: float
    ratio: float
    low: float
    high: float

    @property
    def is_worse(self) -> bool:
        """Whether this tree is slower by more than the bound, and not by chance."""
        return self.low > BOUND


def main(arguments: Sequence[str]) -> int:
    """Compare, and print the table; 1: something is worse."""
    from benchmarks.rounds import WORKLOADS

    parser = argparse.ArgumentParser("compare", description="Hold this tree against a commit.")
    parser.add_argument("base", metavar="BASE", help="the commit")
    parser.add_argument(
        "names", metavar="NAME", nargs="*", choices=[*WORKLOADS, []], help=f"of: {', '.join(WORKLOADS)}"
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"pairs of rounds (default {ROUNDS})")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        trees = _export(asked.base, Path(folder) / "base"), _copy(Path(folder) / "now")
        found: list[Comparison] = []
        for name in asked.names or WORKLOADS:
            print(f"comparing {name} …", file=sys.stderr)
            found += _compare(name, *trees, Path(folder), asked.rounds)
    print(table(found))
    return 1 if any(row.is_worse for row in found) else 0


def compared(name: str, base: Sequence[float], subject: Sequence[float]) -> Comparison:
    """What pairs of costs come to."""
    ratios = sorted(ours / theirs for ours, theirs in zip(subject, base, strict=True))
    cut = _rank(len(ratios))
    return Comparison(
        name,
        statistics.median(base),
        statistics.median(subject),
        statistics.median(ratios),
        ratios[cut],
        ratios[-1 - cut],
    )


def table(rows: Sequence[Comparison]) -> str:
    """The rows as a Markdown table."""
    lines = ["| what | before | now | ratio | 95 % interval | |", "|---|--:|--:|--:|--:|---|"]
    for row in rows:
        interval = f"{row.low:.3f} to {row.high:.3f}"
        verdict = "**worse**" if row.is_worse else "" if row.high > BOUND else "holds"
        lines.append(f"| {row.name} | {row.base:.3f} | {row.subject:.3f} | {row.ratio:.3f} | {interval} | {verdict} |")
    return "\n".join(lines)


def _rank(count: int) -> int:
    """How many of sorted values lie outside of the interval of the median, at each end.

    The number of values below the true median is binomial with one half, whatever their distribution.
    """
    rank, outside = 0, 0.0
    while (outside := outside + 2 * comb(count, rank) / 2**count) <= 1 - _CONFIDENCE:
        rank += 1
    return max(rank - 1, 0)


def _export(commit: str, folder: Path) -> Path:
    """The code of a commit in a folder of its own."""
    shown = subprocess.run(
        ["git", "rev-parse", "--verify", f"{commit}^{{commit}}"], cwd=_ROOT, capture_output=True, text=True, check=False
    )
    if shown.returncode:
        raise SystemExit(f"there is no commit {commit!r} here")
    archive = subprocess.run(
        ["git", "archive", shown.stdout.strip(), *_EXPORTED], cwd=_ROOT, capture_output=True, check=True
    )
    folder.mkdir()
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout, check=True)
    if not (folder / "benchmarks" / "rounds.py").exists():  # it is older than this comparison
        shutil.rmtree(folder / "benchmarks")
        shutil.copytree(_ROOT / "benchmarks", folder / "benchmarks")
    return _compiled(folder)


def _copy(folder: Path) -> Path:
    """The code of this tree as it stands, in a folder of its own: where files lie, and how they came there, matters."""
    for name in _EXPORTED:
        shutil.copytree(_ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return _compiled(folder)


def _compiled(folder: Path) -> Path:
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(folder)], check=True)
    return folder


def _compare(name: str, base: Path, now: Path, folder: Path, rounds: int) -> list[Comparison]:
    costs: dict[str, tuple[list[float], list[float]]] = {}
    with _side(base, name, folder / f"{name}-base") as theirs, _side(now, name, folder / f"{name}-now") as ours:
        for turn in range(rounds + _WARM_UP):
            pair = ((theirs, 0), (ours, 1))
            for side, index in pair if turn % 2 else reversed(pair):
                for row, cost in side.ask("round").items():
                    if turn >= _WARM_UP:
                        costs.setdefault(row, ([], []))[index].append(cost)
    return [compared(row, *both) for row, both in costs.items()]


class _Side:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def ask(self, *words: str) -> dict[str, float]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(*words, file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            raise SystemExit(f"the side in {self._process.args!r} ended at {words[0]!r}")
        return json.loads(answer) or {}


@contextmanager
def _side(tree: Path, name: str, folder: Path) -> Iterator[_Side]:
    """A process over the code of a tree, whichever tree is installed in this environment."""
    folder.mkdir()
    path = os.pathsep.join(map(str, (tree, *sorted(tree.glob("plugins/*/src")))))
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.side"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        side = _Side(process)
        side.ask("open", name, str(folder))
        yield side
        side.ask("close")
    finally:
        assert process.stdin is not None
        process.stdin.close()
        process.wait(60)
