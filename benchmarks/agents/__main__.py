"""`python -m benchmarks.agents [--side SIDE] [--verbose] [SCENARIO …]`: play scenarios and print the tables."""

import argparse
import asyncio

from benchmarks.agents import playing, report
from benchmarks.agents.programs import installed


async def _main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agents")
    parser.add_argument("scenarios", nargs="*", choices=[*playing.SCENARIOS, []], metavar="SCENARIO")
    parser.add_argument("--side", action="append", choices=playing.SIDES)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    programs = installed()
    played = [
        await playing.play(programs, name, options.side or playing.SIDES, verbose=options.verbose)
        for name in options.scenarios or playing.SCENARIOS
    ]
    print(report.markdown(played))


asyncio.run(_main())
