"""Some of it, in another size: `python -m benchmarks.pool [OPTION …] [RUN …]`; `--help` has the options."""

import argparse
import sys

from benchmarks.measure import table
from benchmarks.pool import whole
from benchmarks.pool.kills import Size


def main() -> int:
    """Measure, and print the table; exit 1 when a target is missed."""
    size = Size()
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pool")
    parser.add_argument("runs", nargs="*", metavar="RUN", help=f"of {', '.join(whole.RUNS)}")
    parser.add_argument("--hosts", type=int, default=size.hosts)
    parser.add_argument("--sessions", type=int, default=size.sessions)
    parser.add_argument("--in-flight", type=int, default=size.in_flight)
    parser.add_argument("--seconds", type=float, default=size.seconds, help="for how long hosts are killed")
    parser.add_argument("--every", type=float, default=size.every_s, help="seconds from one killed host to the next")
    options = parser.parse_args()
    asked = Size(options.hosts, options.sessions, options.in_flight, options.seconds, options.every)
    rows = whole.measure(asked, options.runs or list(whole.RUNS))
    print(table(rows))
    return 1 if any(row.holds is False for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
