"""Serves a core in this process to commands that need the server's routes but no listener.

The client connects over a socket pair within this process: no port is open, and no other process can connect.
"""

import asyncio
import http.client
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from aiohttp import web

from agentcore.api import Principal
from agentcore.cli.backend.server_client import ServerClient
from agentcore.core.core import Core
from agentcore.server.addresses import Addresses
from agentcore.server.app import create_app
from agentcore.server.gate import Gate

_PERSON = Principal("cli")
_PORT = 1  # only appears in the Host header
_CONNECT_SECONDS = 10.0
_ANSWER_SECONDS = 2.0


@asynccontextmanager
async def open_own_server(core: Core) -> AsyncIterator[ServerClient]:
    """Serve a core to this process only; yield a client, whose blocking methods must run in threads."""
    app = create_app(core, addresses=Addresses(_PORT))
    parts = app.dispatcher.parts
    app.dispatcher.parts = replace(parts, gate=_OwnGate(parts.addresses, parts.gate.credentials, parts.hits))
    runner = web.AppRunner(app, shutdown_timeout=_ANSWER_SECONDS)
    await runner.setup()
    factory = runner.server
    loop = asyncio.get_running_loop()
    assert factory is not None  # noqa: S101 - made by setup()

    async def accept(theirs: socket.socket) -> None:
        await loop.connect_accepted_socket(factory, theirs)

    def connect(timeout_s: float) -> http.client.HTTPConnection:
        """Return an open connection. Must not be called in the event loop's thread."""
        ours, theirs = socket.socketpair()
        asyncio.run_coroutine_threadsafe(accept(theirs), loop).result(_CONNECT_SECONDS)
        ours.settimeout(timeout_s)
        connection = http.client.HTTPConnection("127.0.0.1", _PORT)
        connection.sock = ours
        return connection

    try:
        yield ServerClient(f"http://127.0.0.1:{_PORT}", "", connect=connect)
    finally:
        await runner.shutdown()
        await runner.cleanup()


class _OwnGate(Gate):
    """Identifies every request as the user's, since only this process can connect."""

    async def identify_principal(self, request: web.BaseRequest) -> Principal:
        """Return the user's principal; no credential is needed."""
        return _PERSON
