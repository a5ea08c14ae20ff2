"""The server's application over a host in this process, for commands that need its routes and no listener.

A client reaches it over a pair of sockets that only this process holds: nothing listens, and nobody else can connect.
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
_PORT = 1  # stands in the Host header alone
_CONNECT_SECONDS = 10.0
_ANSWER_SECONDS = 2.0


@asynccontextmanager
async def open_own_server(core: Core) -> AsyncIterator[ServerClient]:
    """Serve a host to this process alone; gives the client, whose methods block and belong into threads."""
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
        """A connection that is open; called in a thread other than the event loop's."""
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
    """Nobody but this process can connect: who asks is the person whose process it is."""

    async def identify_principal(self, request: web.BaseRequest) -> Principal:
        """The person; no credential is needed."""
        return _PERSON
