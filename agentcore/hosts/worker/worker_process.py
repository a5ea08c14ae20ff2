"""A worker's process from its first connection to its end."""

import asyncio
import hmac
import logging
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pydantic_core
import structlog

from agentcore.core.module_code.containment import report_loop_error
from agentcore.core.module_code.ownership import track_owners
from agentcore.core.module_code.threads import worker_threads
from agentcore.hosts.wire.byte_stream_link import StreamLink
from agentcore.hosts.wire.frames import TEXT, FrameReader, Kind, LinkError
from agentcore.hosts.wire.peer import Peer
from agentcore.hosts.wire.socket_file import short_name
from agentcore.hosts.worker.worker import Worker

log = structlog.get_logger(__name__)

_STOP_SECONDS = 10.0
_KNOCK_SECONDS = 5.0
_KNOCK_BYTES = 4096
_LOOK_SECONDS = 5.0
"""How often a host without a server checks whether it can still be found."""


async def run_worker(name: str, link: socket.socket) -> None:
    """Serve one server over a socket; ends with it."""
    loop = _configure_process()
    worker = Worker(name)
    ended: asyncio.Future[str] = loop.create_future()

    def end(reason: str) -> None:
        if not ended.done():
            ended.set_result(reason)

    with worker_threads():
        await loop.create_unix_connection(lambda: StreamLink(lambda stream: worker.attach(stream, end)), sock=link)
        worker.send_hello()
        await ended
        await _stop_and_exit(worker)


async def run_surviving_worker(
    name: str, path: Path, key: bytes, keep_s: float, on_listening: Callable[[], None]
) -> None:
    """Serve one server after another at a Unix socket, until none has come for a while, or one ends the host.

    Args:
        path: The path of the socket, in a folder that only its owner can enter.
        key: The key that a server must send.
        keep_s: How long to wait for the next server.
        on_listening: Called once a server can connect.
    """
    loop = _configure_process()
    worker = Worker(name, outlives=True)
    over: asyncio.Future[str] = loop.create_future()
    waiting: asyncio.TimerHandle | None = None

    def end(reason: str) -> None:
        if not over.done():
            over.set_result(reason)

    def wait_for_next() -> None:
        nonlocal waiting
        has_come()
        waiting = loop.call_later(keep_s, end, "no server came")

    def has_come() -> None:
        nonlocal waiting
        if waiting is not None:
            waiting.cancel()
        waiting = None

    def left(reason: str) -> None:
        log.info("host_lost_server", reason=reason)
        if not worker.line.is_up:
            wait_for_next()

    def admit(stream: "_AuthenticatedStream") -> Peer:
        peer = worker.attach(stream, left)
        has_come()
        loop.call_soon(worker.send_hello)
        return peer

    place = _ListeningSocket(path, key)
    with worker_threads():
        if not place.is_reachable():
            return
        server = await loop.create_unix_server(lambda: _AuthenticatedStream(key, admit, end), sock=place.bind_socket())
        on_listening()
        wait_for_next()
        looking = loop.create_task(_end_when_unreachable(place, worker, end), name="host:look")
        log.info("host_ends", reason=await over)
        looking.cancel()
        server.close()
        place.remove_socket()
        await _stop_and_exit(worker)


class _ListeningSocket:
    """How servers find a host: by a socket, and by the key in a file beside it.

    If that file contains another key, a server has started another host with this path, for example after a server was
    killed while this host started: no server can find this one any more.
    """

    def __init__(self, path: Path, key: bytes) -> None:
        self._path = path
        self._key = key

    def is_reachable(self) -> bool:
        """True if this host can be found there, once it listens."""
        try:
            return hmac.compare_digest((self._path.parent / "key").read_bytes(), self._key)
        except OSError:  # the folder is gone
            return False

    def bind_socket(self) -> socket.socket:
        """Make the socket."""
        self._path.unlink(missing_ok=True)
        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        with short_name(self._path) as name:
            made.bind(name)
        self._path.chmod(0o600)
        return made

    def remove_socket(self) -> None:
        """Remove the socket, unless it belongs to another host."""
        if self.is_reachable():
            self._path.unlink(missing_ok=True)


async def _end_when_unreachable(place: _ListeningSocket, worker: Worker, end: Callable[[str], None]) -> None:
    """End a host that no server can find any more."""
    while True:
        await asyncio.sleep(_LOOK_SECONDS)
        if not worker.line.is_up and not await asyncio.to_thread(place.is_reachable):
            end("another host has its place")
            return


class _AuthenticatedStream(StreamLink):
    """A connection of a server that has to show the key first."""

    def __init__(self, key: bytes, admit: Callable[["_AuthenticatedStream"], Peer], end: Callable[[str], None]) -> None:
        super().__init__(lambda stream: admit(self))
        self._key = key
        self._admit = admit
        self._end_host = end
        self._knock = FrameReader(self._check_key)
        self._is_open = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - a socket's
        self._transport = transport
        self._timer = asyncio.get_running_loop().call_later(_KNOCK_SECONDS, transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        if self._is_open:
            super().connection_lost(exc)

    def buffer_updated(self, nbytes: int) -> None:
        if self._is_open:
            super().buffer_updated(nbytes)
            return
        try:
            if nbytes > _KNOCK_BYTES:
                raise LinkError("too much at once")  # noqa: TRY301 - as what follows
            self._knock.feed(bytes(self._view[:nbytes]))
        except (LinkError, ValueError, KeyError, TypeError):
            self._transport.abort()

    def _check_key(self, kind: Kind, payload: bytes) -> None:
        message = pydantic_core.from_json(payload)
        if kind != TEXT or not hmac.compare_digest(str(message["key"]).encode(), self._key):
            raise LinkError("the key is not this host's")
        self._timer.cancel()
        if message["type"] == "end":
            self._transport.close()
            self._end_host("a server ended it")
            return
        self._is_open = True
        super().connection_made(self._transport)


def _configure_process() -> asyncio.AbstractEventLoop:
    _log_to_stderr()
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(report_loop_error)
    track_owners()
    return loop


async def _stop_and_exit(worker: Worker) -> None:
    try:
        async with asyncio.timeout(_STOP_SECONDS):
            await worker.stop()
    except TimeoutError:
        pass
    # threads and tasks that refuse to end block nothing
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
