"""The program of a host: `python -m agentcore.remote.worker NAME`, with the link to its server as standard input."""

import asyncio
import os
import socket
import sys

from agentcore.plain_structlog import import_without_rich


def main() -> None:
    """Run until the server is gone."""
    import_without_rich()
    from agentcore.remote.worker.running import run  # noqa: PLC0415 - after structlog was told

    link = socket.socket(fileno=os.dup(0))
    # what a module reads from there is nothing of ours
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    link.setblocking(False)
    asyncio.run(run(sys.argv[1], link))


if __name__ == "__main__":
    main()
