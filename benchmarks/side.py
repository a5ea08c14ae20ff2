"""One side of a comparison: a process over one tree's code, which does a round whenever it is told to.

It reads lines from its standard input – `open NAME FOLDER`, `round`, `close` – and answers each with one line of JSON.
"""

import asyncio
import json
import os
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TextIO

from benchmarks.rounds import WORKLOADS, Round


async def _serve(answers: TextIO) -> None:
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    async with AsyncExitStack() as stack:
        work: Round | None = None
        while line := (await lines.readline()).decode().split():
            result: object = None
            if line[0] == "open":
                work = await stack.enter_async_context(WORKLOADS[line[1]](Path(line[2])))
            elif line[0] == "round" and work is not None:
                result = await work()
            else:
                await stack.aclose()
            print(json.dumps(result), file=answers, flush=True)


def main() -> None:
    """Serve until the standard input ends."""
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)  # whatever is printed meanwhile is no answer
        asyncio.run(_serve(answers))


if __name__ == "__main__":
    main()
