"""The program of a host: `python -m agentcore.remote.worker NAME`, with the link to its server as standard input.

`NAME SOCKET SECONDS`: it outlives its server, waits so long for the next one, and reads its key from standard input.
"""

import asyncio
import contextlib
import os
import socket
import sys
from pathlib import Path

from agentcore.plain_structlog import import_without_rich

_KEY_BYTES = 256
_OOM_SCORE = "500"


def main() -> None:
    """Run until the server is gone, or no other one has come."""
    import_without_rich()
    from agentcore.remote.worker.running import run, run_outliving  # noqa: PLC0415 - after structlog was told

    with contextlib.suppress(OSError):
        # where memory runs out, this process ends before its server does
        Path("/proc/self/oom_score_adj").write_text(_OOM_SCORE)
    name, outliving = sys.argv[1], sys.argv[2:]
    given = os.dup(0)
    # what a module reads from there is nothing of ours
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    if outliving:
        key = os.read(given, _KEY_BYTES)
        os.close(given)
        asyncio.run(run_outliving(name, Path(outliving[0]), key, float(outliving[1])))
        return
    link = socket.socket(fileno=given)
    link.setblocking(False)
    asyncio.run(run(name, link))


if __name__ == "__main__":
    main()
