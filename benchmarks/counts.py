"""What agentcore does for its ordinary work, counted, against `budget.json`: `make counts`.

Counts do not depend on how busy the machine is. Each may only go down; a change that needs more raises its number in
`budget.json` and says why in the commit. `make counts ARGS=--write` writes what was counted. Numbers of modules are
those of the oldest supported Python with the packages of `constraints.txt`.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from benchmarks import servers
from benchmarks.calls import BODY, NOOP
from benchmarks.chat import answer
from benchmarks.counted_program import SURFACES
from benchmarks.http_client import Connection, request_bytes
from benchmarks.provider import provider

BUDGET = Path(__file__).with_name("budget.json")
ALL_MODULES = json.loads((Path(__file__).parent.parent / "app.json").read_text())["modules"]
_CALLS = 100
_WORDS = 200
_GROUPED = frozenset({"commits", "row writes", "encodings", "files opened", "threads", "KiB at most"})
"""What depends on how fast the machine is, because it is done in groups or logged: the budget leaves room for that."""

_START = ("modules", "our modules", "files opened", "commits", "row writes", "threads")
_IMPORTS = ("modules", "our modules")
_ACTING = NOOP.replace("@tool(read_only=True)", "@tool")
_HELP = (
    "import sys\nfrom agentcore.cli import main\n"
    "try:\n    main(['--help'])\nfinally:\n    print(len(sys.modules), file=sys.stderr)"
)


@dataclass(frozen=True, slots=True)
class _Counted:
    """A server whose work is counted."""

    running: servers.Running
    report: Path

    def counts(self) -> dict[str, int]:
        """Have it report now."""
        self.report.unlink(missing_ok=True)
        os.kill(self.running.pid, signal.SIGUSR2)
        deadline = time.monotonic() + 12
        while not self.report.exists():
            if time.monotonic() > deadline:
                raise RuntimeError("the server did not report its counts within 12 s")
            time.sleep(0.01)
        told: dict[str, int] = json.loads(self.report.read_bytes())
        return told

    def settled(self) -> dict[str, int]:
        """The counts once nothing more happens by itself."""
        before = self.counts()
        while True:
            time.sleep(0.5)
            now = self.counts()
            if all(now.get(name) == before.get(name) for name in ("modules", "commits", "row writes", "encodings")):
                return now
            before = now

    def call(self, tool: str, times: int) -> None:
        """Call a tool over HTTP, one call after the other."""
        connection = Connection(self.running.port)
        request = request_bytes("POST", f"/api/tools/{tool}/call", self.running.port, BODY, self.running.token)
        for _ in range(times):
            reply = connection.send(request)
            if not reply.startswith(b"HTTP/1.1 200"):
                raise RuntimeError(reply.decode(errors="replace"))
        connection.close()


@contextmanager
def _server(
    folder: Path,
    modules: list[str],
    sources: dict[str, str],
    app: dict[str, Any] | None = None,
    *,
    allocated: bool = False,
) -> Iterator[_Counted]:
    report = folder / "counts.json"
    command = [sys.executable, "-m", "benchmarks.counted_program", str(report)]
    environ = {"PYTHONPATH": str(BUDGET.parent.parent)} | ({"COUNT_ALLOCATED": "1"} if allocated else {})
    with servers.agentcore(
        folder / "app", sources, {"modules": [*modules, *sources], **(app or {})}, program=command, environ=environ
    ) as running:
        yield _Counted(running, report)


def count_all() -> dict[str, dict[str, int]]:
    """Count everything; returns the scenarios with their counts."""
    done = subprocess.run([sys.executable, "-c", _HELP], capture_output=True, text=True, check=True)
    rows = {"agentcore --help": {"modules": int(done.stderr.split()[-1])}}
    with tempfile.TemporaryDirectory() as folder, _server(Path(folder), ALL_MODULES, {}) as server:
        server.settled()  # the first start of a new installation also compiles its files
    for count in (_start, _call, _chat, _allocated):
        with tempfile.TemporaryDirectory() as folder:
            rows |= count(Path(folder))
    return rows


def _start(folder: Path) -> dict[str, dict[str, int]]:
    with _server(folder / "one", [], {"noop": NOOP.format(name="noop_call")}) as server:
        first = _only(server.settled(), (*_START, *SURFACES))
    with _server(folder / "all", ALL_MODULES, {"noop": NOOP.format(name="noop_call")}) as server:
        started = server.settled()
        server.call("noop_call", 1)
        called = server.settled()
    return {
        "start with one module": first,
        "start with the modules of app.json": _only(started, _START),
        "… and the first call": _only(called, _IMPORTS),
    }


def _call(folder: Path) -> dict[str, dict[str, int]]:
    rows = {}
    sources = {"noop": NOOP.format(name="noop_call"), "acting": _ACTING.format(name="acting_call")}
    app = {"approvals": {"mode": "allow"}}
    with _server(folder, [], sources, app) as server:
        for tool, name in (("noop_call", "that only reads"), ("acting_call", "that acts")):
            server.call(tool, 10)
            before = server.settled()
            server.call(tool, _CALLS)
            after = server.settled()
            rows[f"{_CALLS} calls of a tool {name}"] = {
                each: after.get(each, 0) - before.get(each, 0)
                for each in ("commits", "row writes", "encodings", "files opened")
            }
    return rows


def _chat(folder: Path) -> dict[str, dict[str, int]]:
    async def run(port: int, token: str, words: int) -> None:
        headers = {"Authorization": f"Bearer {token}"}
        async with aiohttp.ClientSession(f"http://127.0.0.1:{port}", headers=headers) as client:
            await answer(client, words, 0)

    with provider() as base_url:
        app = {"models": {"m": {"provider": "openai", "base_url": base_url}}}
        with _server(folder, [], {"noop": NOOP.format(name="noop_call")}, app) as server:
            asyncio.run(run(server.running.port, server.running.token, 3))
            first = server.settled()
            asyncio.run(run(server.running.port, server.running.token, _WORDS))
            after = server.settled()
    names = ("commits", "row writes", "encodings", "files opened")
    return {
        "a chat's first answer": _only(first, _IMPORTS),
        f"an answer of {_WORDS} words": {each: after.get(each, 0) - first.get(each, 0) for each in names},
    }


def _allocated(folder: Path) -> dict[str, dict[str, int]]:
    with _server(folder, [], {"noop": NOOP.format(name="noop_call")}, allocated=True) as server:
        server.call("noop_call", 300)
        server.settled()
        before = server.counts()
        server.call("noop_call", _CALLS)
        after = server.counts()
    peak = after["peak"] - before["held"]
    return {f"{_CALLS} calls, memory beyond what was held": {"KiB at most": peak // 1024}}


def _only(counts: dict[str, int], names: tuple[str, ...]) -> dict[str, int]:
    return {name: counts.get(name, 0) for name in names}


def main() -> int:
    """Count, print the table, and compare; exit 1 if a count is above its budget."""
    rows = count_all()
    budget: dict[str, dict[str, int]] = json.loads(BUDGET.read_text())
    print("| what | count | now | budget | |\n|---|---|--:|--:|---|")
    over = []
    for name, counts in rows.items():
        for each, value in counts.items():
            allowed = budget.get(name, {}).get(each)
            is_over = allowed is not None and value > allowed
            is_under = allowed is not None and value < allowed and each not in _GROUPED
            verdict = "**over**" if is_over else "could go down" if is_under else ""
            print(f"| {name} | {each} | {value} | {'' if allowed is None else allowed} | {verdict} |")
            over += [f"{name}: {each}"] if is_over or allowed is None else []
    if "--write" in sys.argv[1:]:
        for name, counts in rows.items():
            for each in _GROUPED & counts.keys():
                counts[each] = budget.get(name, {}).get(each, counts[each])
        BUDGET.write_text(json.dumps(rows, indent=2, ensure_ascii=False) + "\n")
        return 0
    for each in over:
        print(f"over its budget, or not in {BUDGET.name}: {each}", file=sys.stderr)
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
