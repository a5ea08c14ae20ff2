"""agentcore, with what it does counted: `python -m benchmarks.counted_program REPORT ARGUMENTS`.

On SIGUSR2, and when the program ends, the counts so far go to the file REPORT, as a JSON object of names and integers.
"""

import atexit
import json
import os
import signal
import sqlite3
import sys
import threading
import tracemalloc
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pydantic_core

COUNTS: Counter[str] = Counter()
_WRITES = ("INSERT", "UPDATE", "DELETE", "REPLACE")
_CODE = (".py", ".pyc", ".pth", ".so", "/entry_points.txt")
"""Ends of the names of files whose number depends on what is installed."""

SURFACES = {
    "modules of the chat": ("agentcore.chat", "pydantic_ai"),
    "modules of MCP": ("agentcore.mcp_endpoint", "mcp"),
    "modules of hosts": ("agentcore.hosts",),
    "modules of browsers": ("agentcore_chrome", "playwright"),
}
"""Packages that only those need who use something: chats, MCP, hosts, browsers."""


class _CountedConnection(sqlite3.Connection):
    """A database connection whose statements are counted. (`set_trace_callback` can deadlock among threads.)"""

    def execute(self, statement: str, *parameters: Any) -> sqlite3.Cursor:
        _count_statement(statement, 1)
        return super().execute(statement, *parameters)

    def executemany(self, statement: str, rows: Any, /) -> sqlite3.Cursor:
        rows = list(rows)
        _count_statement(statement, len(rows))
        return super().executemany(statement, rows)


def _count_statement(statement: str, rows: int) -> None:
    word = statement.lstrip()[:7].upper()
    if word.startswith("COMMIT"):
        COUNTS["commits"] += 1
    elif word.startswith(_WRITES):
        COUNTS["row writes"] += rows


def _count_audit_event(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and isinstance(arguments[0], str) and not arguments[0].endswith(_CODE):
        COUNTS["files opened"] += 1


def _counted(function: Callable[..., Any]) -> Any:
    def count(*arguments: Any, **options: Any) -> Any:
        COUNTS["encodings"] += 1
        return function(*arguments, **options)

    return count


def main() -> None:
    """Count, and run the program."""
    report = Path(sys.argv[1])
    sys.argv[:2] = ["agentcore"]
    database: Any = sqlite3
    connect = database.connect
    database.connect = lambda *arguments, **options: connect(*arguments, factory=_CountedConnection, **options)
    encode = pydantic_core.to_json
    pydantic_core.to_json = _counted(encode)
    json.dumps = _counted(json.dumps)
    if os.environ.get("COUNT_ALLOCATED"):
        tracemalloc.start()
    sys.addaudithook(_count_audit_event)

    def write_report() -> None:
        modules = list(sys.modules)
        counts = dict(COUNTS) | {
            "modules": len(modules),
            "our modules": sum(name.partition(".")[0] == "agentcore" for name in modules),
            "threads": threading.active_count(),
        }
        for surface, packages in SURFACES.items():
            counts[surface] = sum(f"{name}.".startswith(tuple(f"{each}." for each in packages)) for name in modules)
        if tracemalloc.is_tracing():
            held, peak = tracemalloc.get_traced_memory()
            counts |= {"held": held, "peak": peak}
            tracemalloc.reset_peak()
        written = report.with_suffix(".new")
        written.write_bytes(encode(counts))
        written.replace(report)

    def handle_signal(number: int, frame: FrameType | None) -> None:
        write_report()

    signal.signal(signal.SIGUSR2, handle_signal)
    atexit.register(write_report)
    from agentcore.cli import main as run

    run()


if __name__ == "__main__":
    main()
