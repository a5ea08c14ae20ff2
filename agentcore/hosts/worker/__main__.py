"""Start a worker: `python -m agentcore.hosts.worker NAME`, with the link to its server as standard input.

`NAME SOCKET SECONDS`: it survives its server, waits that long for the next one, and reads its key from standard input.
"""

import asyncio
import contextlib
import os
import socket
import sys
from pathlib import Path

from agentcore.plain_structlog import import_without_extras

_KEY_BYTES = 256
_OOM_SCORE = "500"


def main() -> None:
    """Run until the server is gone, or no other one has come."""
    told = _detach_process() if len(sys.argv) > 2 else -1  # noqa: PLR2004 - it survives its server
    import_without_extras()
    from agentcore.hosts.worker.worker_process import run_surviving_worker, run_worker  # noqa: PLC0415 - after structlog is configured

    with contextlib.suppress(OSError):
        # where memory runs out, this process ends before its server does
        Path("/proc/self/oom_score_adj").write_text(_OOM_SCORE)
    name = sys.argv[1]
    outliving = sys.argv[2:]
    given = os.dup(0)
    # modules must not read the link from standard input
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    if outliving:
        key = os.read(given, _KEY_BYTES)
        os.close(given)
        asyncio.run(
            run_surviving_worker(name, Path(outliving[0]), key, float(outliving[1]), lambda: _signal_listening(told))
        )
        return
    link = socket.socket(fileno=given)
    link.setblocking(False)
    asyncio.run(run_worker(name, link))


def _detach_process() -> int:
    """Detach the process once it listens, because a server that ends kills all of its descendants.

    The started process stays until then, and ends as this one does.

    Returns:
        A descriptor to which something is to be written once it listens.
    """
    over, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(over)
        return told
    os.close(told)
    code = 0 if os.read(over, 1) else os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code < 0:
        os.kill(os.getpid(), -code)
    os._exit(code)


def _signal_listening(told: int) -> None:
    os.write(told, b".")
    os.close(told)


if __name__ == "__main__":
    main()
