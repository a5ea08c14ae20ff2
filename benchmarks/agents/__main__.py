"""Play tasks and print the tables: `python -m benchmarks.agents [OPTION …] [SCENARIO …]`; `--help` has the options."""

import argparse
import asyncio
from pathlib import Path

from benchmarks.agents import playing, report
from benchmarks.agents.programs import installed


async def _main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agents")
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help=f"of {', '.join(playing.SCENARIOS)}")
    parser.add_argument("--with", dest="sides", action="append", choices=playing.SIDES)
    parser.add_argument("--verbose", action="store_true", help="print every call and what came of it")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/agents-compared.md")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="keep figures there, and tell of all that it has")
    options = parser.parse_args()
    programs = installed()
    played = [
        await playing.play(programs, name, options.sides or playing.SIDES, verbose=options.verbose)
        for name in options.scenarios or playing.SCENARIOS
    ]
    if options.keep:
        played = playing.keep(played, options.keep)
    print(report.markdown(played))
    if options.write:
        report.write(played)


asyncio.run(_main())
