"""A host on another machine that says what a test wants: it dials in as a worker does, and runs no module at all."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from agentcore.hosts.wire.frames import PROTOCOL, encode_chunk
from agentcore.hosts.wire.web_socket_link import SOCKET_PATH
from tests.hosts.fake_host import TOOL
from tests.hosts.two_machines import WAIT_S, Server

Message = dict[str, Any]


class FakeMachine:
    """One connection of it.

    Args:
        name: What it is called.
        modules: The modules that it says it runs.
        answer: What it does with `module.ask`.

    Attributes:
        goodbye: Why the server has ended the connection; None: it has not.
        replies: What the server answered to its requests.
    """

    def __init__(
        self, name: str, modules: list[str], answer: Callable[["FakeMachine", Message], Awaitable[None]]
    ) -> None:
        self.name, self.modules, self.on_ask = name, modules, answer
        self.socket: aiohttp.ClientWebSocketResponse
        self.goodbye: str | None = None
        self.calls: asyncio.Queue[Message] = asyncio.Queue()
        self.replies: asyncio.Queue[Message] = asyncio.Queue()
        self._blobs = 0

    async def say(self, kind: str, /, **fields: Any) -> None:
        """Send a message."""
        await self.socket.send_str(json.dumps({"type": kind, **fields}))

    async def reply(self, message: Message, result: Any) -> None:
        """Answer a request."""
        await self.say("reply", id=message["id"], ok=True, result=result)

    async def blob(self, data: bytes) -> int:
        """Send bytes; gives their number."""
        self._blobs += 1
        for begin in range(0, max(len(data), 1), 65_536):
            part = data[begin : begin + 65_536]
            await self.socket.send_bytes(encode_chunk(self._blobs, part, is_last=begin + 65_536 >= len(data)))
        return self._blobs

    async def hello(self) -> None:
        """Greet."""
        told = {"attributes": {}, "description": "Lies.", "settings": None, "config_key": None, "problems": []}
        tools = [TOOL | {"name": f"lie_{self.name}"}]
        members = [
            {"module": number, "name": name, "fingerprint": "", **told, "tools": tools if number == 1 else []}
            for number, name in enumerate(self.modules, 1)
        ]
        where = {"platform": "Linux \u202ex86", "workspace": ["/home/eve\nlaptop: /etc"], "instance": "one"}
        await self.say("hello", protocol=PROTOCOL, name=self.name, pid=os.getpid(), members=members, **where)

    async def serve(self) -> None:
        """Answer as a worker does, but for what a test wants otherwise, until the server ends the connection."""
        async for frame in self.socket:
            if frame.type is not aiohttp.WSMsgType.TEXT:
                continue
            message = json.loads(frame.data)
            kind = message["type"]
            if kind == "hello.ok":
                await self.say("hello.done")
            elif kind == "ping":
                await self.say("pong", n=message["n"])
            elif kind == "goodbye":
                self.goodbye = message["reason"]
            elif kind == "definitions":
                tools = [TOOL | {"name": f"lie_{self.name}"}] if message["module"] == 1 else []
                await self.reply(message, {"tools": tools, "problems": []})
            elif kind == "module.ask":
                await self.on_ask(self, message)
            elif kind == "tool.call":
                self.calls.put_nowait(message)
            elif kind == "reply":
                self.replies.put_nowait(message)


@asynccontextmanager
async def lying_machine(
    server: Server, name: str, modules: list[str], answer: Callable[[FakeMachine, Message], Awaitable[None]]
) -> AsyncIterator[FakeMachine]:
    """A machine that was let in, and is connected."""
    machine = FakeMachine(name, modules, answer)
    async with aiohttp.ClientSession(server.address) as session:
        async with session.ws_connect(SOCKET_PATH, protocols=(PROTOCOL,)) as machine.socket:
            await machine.hello()
            code = (await machine.socket.receive_json(timeout=WAIT_S))["code"]
            deciding = asyncio.create_task(server.let_in(code))
            key = (await machine.socket.receive_json(timeout=WAIT_S))["key"]
            await machine.say("pair.kept")
            await deciding
        headers = {"Authorization": f"Bearer {key}"}
        async with session.ws_connect(SOCKET_PATH, protocols=(PROTOCOL,), headers=headers) as machine.socket:
            serving = asyncio.create_task(machine.serve())
            await machine.hello()
            await server.host_is(name, "running")
            yield machine
            serving.cancel()
