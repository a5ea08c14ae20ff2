"""A server with the module, and browsers as it sees them: extensions with a key, which speak over a real socket."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from agentcore.testing import ServerClient
from agentcore.testing.hosting import HostPlan
from agentcore.testing.serving import running_server

LIMIT_S = 30
SHOP = "https://shop.example/phones"


class Browser:
    """One connection of one browser.

    Attributes:
        resources: Ids of the resources that the server made of its tabs, by share.
        refused: What the server refused.
        ended: Shares that the server ended.
    """

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket
        self.resources: dict[str, str] = {}
        self.refused: list[Mapping[str, Any]] = []
        self.ended: list[str] = []
        self.seen: list[Mapping[str, Any]] = []

    async def send(self, **message: Any) -> None:
        await self.socket.send_json(message)

    async def next(self, kind: str) -> Any:
        """The next message of a kind; others are noted and passed over."""
        async with asyncio.timeout(LIMIT_S):
            while True:
                message = await self.socket.receive_json()
                self.seen.append(message)
                if message["type"] == "shared":
                    self.resources[message["shareId"]] = message["resourceId"]
                elif message["type"] == "refused":
                    self.refused.append(message)
                elif message["type"] == "ended":
                    self.ended.append(message["shareId"])
                if message["type"] == kind:
                    return message

    async def hello(self, instance: str = "laptop-1", **more: Any) -> Any:
        await self.send(type="hello", version=1, instance=instance, browser="Chromium 156", **more)
        return await self.next("welcome")

    async def share(
        self, share_id: str = "s1", session_id: str = "chat-1", url: str = SHOP, title: str = "Shop"
    ) -> str:
        """Share a tab, and give the id of its resource."""
        await self.send(type="share", shareId=share_id, sessionId=session_id, url=url, title=title)
        await self.next("shared")
        return self.resources[share_id]

    async def answer(self, call: Mapping[str, Any], result: Mapping[str, Any]) -> None:
        await self.send(type="result", callId=call["callId"], ok=True, result=result)

    async def fail(self, call: Mapping[str, Any], error_type: str, message: str = "no") -> None:
        error = {"type": error_type, "message": message}
        await self.send(type="result", callId=call["callId"], ok=False, error=error)


async def _new_key(server: ServerClient, name: str = "laptop", *scopes: str) -> str:
    """The key of a client that a person has paired."""
    return await server.running.host.store.client_keys.create_key(name, scopes or ("tab",))


@asynccontextmanager
async def _connected(server: ServerClient, key: str) -> AsyncIterator[Browser]:
    """A connection with a key; nothing has been said on it."""
    async with (
        aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as client,
        client.ws_connect(
            str(server.make_url("/api/user-tabs/socket")), protocols=("agentcore", f"agentcore.key.{key}")
        ) as socket,
    ):
        yield Browser(socket)


@pytest_asyncio.fixture
async def server(tmp_path: Path) -> AsyncIterator[ServerClient]:
    """A server with the module alone."""
    async with running_server(HostPlan(["user_tabs"]), tmp_path) as client:
        yield client


@pytest.fixture
def new_key() -> Callable[..., Awaitable[str]]:
    """Give keys of clients that a person has paired: `new_key(server, name, *scopes)`."""
    return _new_key


@pytest.fixture
def connected() -> Callable[..., AbstractAsyncContextManager[Browser]]:
    """Open connections: `connected(server, key)`."""
    return _connected
