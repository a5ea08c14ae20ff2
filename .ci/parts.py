"""Run the parts of CI, and report the time of each beside its budget. Standard library only.

Usage: python3 .ci/parts.py [PART...]

Parts of one stage run at once, as many as there are cores; a stage starts when the one before it has ended. A part that
fails prevents no other one. Budgets are for a quiet machine of two cores: a part over its budget is marked, and fails
nothing.
"""

import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OLDEST = (3, 11)


@dataclass(frozen=True)
class Part:
    """One command and the time that it should need at most."""

    name: str
    command: Sequence[str]
    budget_s: int
    repeat: Sequence[str] = ()
    """Runs tests again that failed, one after the other: make those tests alone, another command their files."""


@dataclass(frozen=True)
class Outcome:
    """How a part ended."""

    part: Part
    code: int
    seconds: float
    repeated: Sequence[str] = ()


FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+?\.py)")
"""A line of pytest's summary, with the file of a test that failed."""


def make(*targets: str) -> list[str]:
    """Return the command of targets of the Makefile."""
    return ["make", "--no-print-directory", *targets]


def stages() -> Iterator[list[Part]]:
    """Yield the parts in their order, those that can run at once together."""
    yield [
        Part("install", make("dev"), 40),
        Part("programs", [sys.executable, "-m", "scripts.install_programs"], 120),
        Part("npm", make("npm"), 40),
    ]
    yield [
        Part("lint", make("lint"), 20),
        Part("imports", make("imports"), 30),
        Part("types", make("types"), 120),
        Part("page-types", make("page-types"), 30),
        Part("wheels", make("test-wheels"), 60),
        Part("counts", make("counts"), 60),
    ]
    yield [Part("test", make("test"), 300, make("test"))]
    yield [Part("conformance", make("conformance"), 40)]
    yield [Part("test-heavy", make("test-heavy"), 300, make("test-heavy"))]
    yield [Part("test-apart", make("test-apart"), 100, make("test-apart"))]
    if os.geteuid() == 0 and sys.platform == "linux":
        bare = [sys.executable, ".ci/bare_machine.py"]
        yield [Part("bare", bare, 120, bare)]
        # bubblewrap and git are there: what a sandbox hides below this folder
        sandboxed = ("plugins/shell_tools", "plugins/mcp_servers/tests/test_sandbox.py")
        yield [Part("bare-sandbox", [*bare, "--below", "/var/tmp", "--show", "bwrap", "--show", "git", *sandboxed], 60)]
    for version, program in newer_interpreters():
        fast = make("test-fast", f"PYTHON={program}", f"VENV=.venv-{version}")
        yield [Part(f"python-{version}", fast, 60, fast)]


def newer_interpreters() -> list[tuple[str, str]]:
    """Find interpreters newer than the one that runs this, one of each minor version: on PATH and in pyenv's folder."""
    versions = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    candidates = [
        *(found for minor in range(OLDEST[1], 30) if (found := shutil.which(f"python3.{minor}"))),
        *map(str, sorted(versions.glob("3.*/bin/python3"))),
    ]
    found: dict[str, str] = {}
    for program in candidates:
        # a program of pyenv on PATH may stand for a version that is not chosen here, and fail
        code = "import ensurepip, sys; print('%d.%d' % sys.version_info[:2])"
        done = subprocess.run([program, "-c", code], check=False, capture_output=True, text=True)
        version = re.fullmatch(r"3\.(\d+)", done.stdout.strip())
        if done.returncode == 0 and version is not None and int(version[1]) > sys.version_info.minor:
            found.setdefault(version[0], program)
    return sorted(found.items(), key=lambda item: int(item[0].partition(".")[2]))


class Runner:
    """Runs parts and prints what they print, the output of one part in one piece where several run at once."""

    def __init__(self) -> None:
        self._printing = threading.Lock()

    def run_stage(self, parts: Sequence[Part]) -> list[Outcome]:
        """Run parts at once."""
        if len(parts) == 1:
            return [self._run(parts[0], is_alone=True)]
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            return list(pool.map(lambda part: self._run(part, is_alone=False), parts))

    def _run(self, part: Part, *, is_alone: bool) -> Outcome:
        if is_alone:
            self._print(f"--- {part.name}")
        began = time.monotonic()
        code, lines = self._call(part.command, shows=is_alone)
        files = sorted({found[1] for line in lines if (found := FAILED.match(line)) is not None})
        repeated: list[str] = []
        if code and files and part.repeat:
            # A test of real browsers and processes may fail beside thousands of others and pass by itself. It is named
            # in the summary: it is a defect of the test or of the product all the same.
            repeated = files
            self._print(f"--- {part.name}, once more: {' '.join(files)}")
            arguments = ["ARGS=--lf --lfnf=none -n 1"] if part.repeat[0] == "make" else ["-n", "1", *files]
            code, _ = self._call([*part.repeat, *arguments], shows=is_alone)
        if not is_alone:
            self._print(f"--- {part.name}\n{''.join(lines).rstrip()}")
        return Outcome(part, code, time.monotonic() - began, repeated)

    def _call(self, command: Sequence[str], *, shows: bool) -> tuple[int, list[str]]:
        """Run a command; returns its exit code and its lines, which are printed as they come if `shows`."""
        lines = []
        with subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace",
        ) as process:  # fmt: skip
            assert process.stdout is not None
            for line in process.stdout:
                lines.append(line)
                if shows:
                    print(line, end="", flush=True)
        return process.returncode, lines

    def _print(self, text: str) -> None:
        with self._printing:
            print(text, flush=True)


def main(wanted: Sequence[str]) -> int:
    """Run all parts, or those that are named; the exit code."""
    planned = list(stages())
    names = {part.name for stage in planned for part in stage}
    if unknown := set(wanted) - names:
        print(f"unknown: {' '.join(sorted(unknown))}; there are {' '.join(sorted(names))}", file=sys.stderr)
        return 2
    runner = Runner()
    outcomes: list[Outcome] = []
    began = time.monotonic()
    for stage in planned:
        parts = [part for part in stage if not wanted or part.name in wanted]
        outcomes += runner.run_stage(parts) if parts else []
    print(f"\n{'part':16} {'result':8} {'time':>7} {'budget':>7}")
    for outcome in outcomes:
        result = "passed" if outcome.code == 0 else "FAILED"
        is_over = outcome.seconds > outcome.part.budget_s
        times = f"{outcome.seconds:5.0f} s {outcome.part.budget_s:5} s{'  over its budget' if is_over else ''}"
        print(f"{outcome.part.name:16} {result:8} {times}")
    for outcome in outcomes:
        if outcome.repeated and outcome.code == 0:
            print(f"{outcome.part.name}: failed among the others, passed alone: {' '.join(outcome.repeated)}")
    failed = [outcome.part.name for outcome in outcomes if outcome.code]
    total = time.monotonic() - began
    print(f"failed: {', '.join(failed)}, in {total:.0f} s" if failed else f"all parts passed in {total:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
