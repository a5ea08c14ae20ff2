"""The socket for `agentcore mcp`, in the state folder, which no other user can open."""

import asyncio
import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import structlog

from agentcore.api import Principal
from agentcore.encoding import to_json
from agentcore.errors import ToolError
from agentcore.server.http.live_connections import LiveConnections
from agentcore.server.http.refusal import Refusal
from agentcore.server.mcp_transports.greeting import PipeConnectRequest
from agentcore.server.mcp_transports.lazy_endpoint import McpEntrance
from agentcore.store.credentials.client_keys import ClientKeys

log = structlog.get_logger(__name__)

_SOCKET = "mcp.sock"
_PATH_BYTES = 100
"""Maximum length of a socket's path; systems accept 104 to 108 bytes."""

_GREETING_SECONDS = 20.0
_CLIENTS = 64
_IDLE_SECONDS = 2.0
"""Time for which a server that runs only for its clients waits for the next one."""

_FIRST_SECONDS = 60.0


class Pipes:
    """The clients that connect to the socket.

    Args:
        keys: The keys of clients.
        state: The state folder.
        entrance: Serves MCP.
        live_connections: Ends clients whose key is revoked.
        approval_url: Where the user decides on calls.

    Attributes:
        path: Path of the socket.
        on_idle: Called when no client has been connected for a while; None: the server does not run for its clients.
        is_needed: Returns True if the server is needed though no client is connected.
    """

    def __init__(
        self, keys: ClientKeys, state: Path, entrance: McpEntrance, live_connections: LiveConnections, approval_url: str
    ) -> None:
        self._keys = keys
        self._entrance = entrance
        self._live_connections = live_connections
        self._approval_url = approval_url
        self.path = _socket_path(state)
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[Any]] = set()
        self.on_idle: Callable[[], None] | None = None
        self.is_needed: Callable[[], bool] = lambda: False
        self._timer: asyncio.TimerHandle | None = None

    async def listen(self) -> None:
        """Accept clients."""
        with suppress(FileNotFoundError):
            self.path.unlink()  # of a server that was killed: this process has locked the state folder
        # in a folder that no other user may enter, so that the socket needs no permissions of its own at first
        self._server = await asyncio.start_unix_server(self._serve_client, self.path)
        self.path.chmod(0o600)
        self._schedule_idle_check(_FIRST_SECONDS)

    async def preload(self) -> None:
        """Import what serves clients, before modules start to import their own code."""
        await self._entrance.preload()

    async def close(self) -> None:
        """Accept no more clients and end those that are connected; safe to call twice."""
        if self._timer is not None:
            self._timer.cancel()
        server = self._server
        self._server = None
        if server is None:
            return
        server.close()
        for task in tuple(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        with suppress(FileNotFoundError):
            self.path.unlink()

    async def _serve_client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a server's callback is a task
        self._open.add(task)
        try:
            await self._accept_client(reader, writer)
        except (ConnectionError, asyncio.CancelledError):
            pass  # the client has gone, or the server stops
        finally:
            self._open.discard(task)
            writer.close()
            self._schedule_idle_check(_IDLE_SECONDS)

    async def _accept_client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            greeting = await self._read_connect_request(reader)
            principal = await self._authenticate(greeting)
            serving = await self._entrance.load_serving()
        except (ToolError, Refusal) as exc:
            writer.write(to_json({"error": {"type": exc.type, "message": exc.message}}) + b"\n")
            await writer.drain()
            return
        task = asyncio.current_task()
        connection = _Ending(writer.transport, lambda: None if task is None else task.cancel())
        with self._live_connections.track_connection(principal, connection):
            await serving.serve_pipe(principal, greeting, self._approval_url, reader, writer)

    async def _read_connect_request(self, reader: asyncio.StreamReader) -> PipeConnectRequest:
        try:
            async with asyncio.timeout(_GREETING_SECONDS):
                line = await reader.readuntil(b"\n")  # at most 64 KiB, else it fails
            return PipeConnectRequest.model_validate(json.loads(line))
        except (TimeoutError, ValueError, RecursionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            # not chained: it contains the key
            raise ToolError("invalid_greeting", "the first line must be a client's greeting") from None

    async def _authenticate(self, greeting: PipeConnectRequest) -> Principal:
        if len(self._open) > _CLIENTS:
            message = f"{_CLIENTS} clients are connected already, which is the bound"
            raise ToolError("too_many_clients", message, retryable=True)
        known = await self._keys.find_by_key(greeting.key)
        if known is None or known.principal.kind != "mcp":
            message = "the key of this client was revoked: connect it again with `agentcore connect`"
            raise ToolError("unauthorized", message)
        return known.principal

    def _schedule_idle_check(self, after_s: float) -> None:
        if self.on_idle is None or self._server is None or self._open:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(after_s, self._report_idle)

    def _report_idle(self) -> None:
        if self._open or self.on_idle is None:
            return
        if self.is_needed():
            self._schedule_idle_check(_IDLE_SECONDS)
            return
        log.info("server_idle")
        self.on_idle()


class _Ending:
    """Ends a pipe when its client's key is revoked."""

    def __init__(self, transport: asyncio.BaseTransport, end: Callable[[], object]) -> None:
        self.transport = transport
        self._end = end

    def end_stream(self) -> None:
        """Cancel the task that serves the client."""
        self._end()


def _socket_path(state: Path) -> Path:
    """Return the path of the socket: in the state folder, or in a private temporary folder if that is too long."""
    path = state / _SOCKET
    if len(os.fsencode(path)) <= _PATH_BYTES:
        return path
    mark = hashlib.sha256(os.fsencode(state)).hexdigest()[:12]
    folder = Path(tempfile.gettempdir()) / f"agentcore-{os.getuid()}-{mark}"
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise ToolError("state_not_private", f"{folder} belongs to somebody else, or is open to others; remove it")
    return folder / _SOCKET
