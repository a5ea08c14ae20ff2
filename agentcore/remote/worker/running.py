"""A host's process from its first connection to its end."""

import asyncio
import logging
import os
import socket
import sys

import structlog

from agentcore.host.containment.containment import report_loop_error
from agentcore.host.containment.ownership import note_beginnings
from agentcore.host.containment.threads import worker_threads
from agentcore.remote.wire.peer import Peer
from agentcore.remote.wire.stream import StreamLink
from agentcore.remote.worker.worker import Worker

_STOP_SECONDS = 10.0


async def run(name: str, link: socket.socket) -> None:
    """Serve one server over a socket; ends with it."""
    _log_to_stderr()
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(report_loop_error)
    note_beginnings()
    ended: asyncio.Future[str] = loop.create_future()
    made: list[Worker] = []

    def end(reason: str) -> None:
        if not ended.done():
            ended.set_result(reason)

    def make(stream: StreamLink) -> Peer:
        made.append(Worker(name, stream, end))
        return made[0].peer

    with worker_threads():
        await loop.create_unix_connection(lambda: StreamLink(make), sock=link)
        [worker] = made
        worker.begin()
        await ended
        try:
            async with asyncio.timeout(_STOP_SECONDS):
                await worker.stop()
        except TimeoutError:
            pass
    # threads and tasks that refuse to end hold nobody
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _log_to_stderr() -> None:
    """One JSON line for each event: the server reads them."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(default=str),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
