"""`make bench`: measure everything and print the table. Names as arguments measure only those.

`compare BASE` holds this tree against a commit instead, `budget` measures what a user waits for in five rounds, and
`large_record`, which takes minutes, is measured only by its name.
"""

import importlib
import os
import platform
import sys
import time

from benchmarks import budget, compare
from benchmarks.measure import Row, table

NAMES = (
    "startup",
    "calls",
    "mcp",
    "hosts",
    "events",
    "chat",
    "turn_tokens",
    "files",
    "shell",
    "browsers",
    "browser_memory",
    "browser_preview",
    "ui_page",
    "page_chat",
    "large_inputs",
)


def main() -> int:
    """Run the benchmarks named on the command line, or all; exit 1 when a target is missed."""
    if sys.argv[1:2] == ["compare"]:
        return compare.main(sys.argv[2:])
    if sys.argv[1:2] == ["budget"]:
        return _report(budget.run(sys.argv[2:]))
    rows: list[Row] = []
    began = time.perf_counter()
    for name in sys.argv[1:] or NAMES:
        print(f"measuring {name} …", file=sys.stderr)
        rows += importlib.import_module(f"benchmarks.{name}").run()
    print(
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"{time.perf_counter() - began:.0f} s\n"
    )
    return _report(rows)


def _report(rows: list[Row]) -> int:
    print(table(rows))
    return 1 if any(row.holds is False for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
