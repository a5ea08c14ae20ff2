"""A real server whose tools MCP clients call: by the SDK's own client, and by hand."""

import asyncio
import io
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
import httpx2
import pytest
import pytest_asyncio
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from typing_extensions import TypedDict

from agentcore.api import Image, Module, Text, ToolContext, ToolError, ToolResult, tool
from agentcore.core.context_task import ContextTask
from agentcore.testing.hosting import HostPlan
from agentcore.testing.serving import ServerClient, running_server
from tests.server.approving import approver

LIMIT_S = 60
REVISION = "2025-11-25"
ACCEPT = "application/json, text/event-stream"


class Size(TypedDict):
    """Of a picture, in pixels."""

    width: int


class Shop(Module):
    """A shop."""

    def __init__(self) -> None:
        super().__init__()
        self.sold: list[str] = []
        self.gate = asyncio.Event()
        self.begun = asyncio.Event()

    @tool(read_only=True, effects=["session"])
    async def shop_look(self, shelf: str) -> dict[str, Any]:
        """Look at a shelf."""
        return {"shelf": shelf, "goods": 3}

    @tool(effects=["write"])
    async def shop_sell(self, item: str, count: int = 1) -> str:
        """Sell something: `count` of it."""
        self.sold.append(item)
        return f"sold {item}"

    @tool(effects=["write"], timeout_s=60)
    async def shop_sell_slowly(self, item: str) -> str:
        """Sell something that takes its time."""
        self.sold.append(item)
        self.begun.set()
        await self.gate.wait()
        return f"sold {item}"

    @tool(effects=["write"])
    async def shop_pack(self, ctx: ToolContext, item: str) -> str:
        """Pack something, and report that half of it is done."""
        ctx.progress(0.5, "half of it")
        return f"packed {item}"

    @tool(effects=["session"], timeout_s=60)
    async def shop_count(self, ctx: ToolContext) -> str:
        """Count until it is let go."""
        ctx.progress(0.5, "half of it")
        self.begun.set()
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.sold.append("cancelled")
            raise
        return "counted"

    @tool(effects=["session"])
    async def shop_picture(self) -> ToolResult[Size]:
        """Give a picture."""
        return ToolResult((Text("a picture"), Image(b"\x89PNG\r\n\x1a\n", "image/png")), {"width": 1})

    @tool(effects=["session"], model_chars=2000)
    async def shop_list(self) -> str:
        """Give a long list."""
        return "\n".join(f"line {number}" for number in range(2000))

    @tool(effects=["session"])
    async def shop_fail(self) -> str:
        """Fail."""
        raise ToolError("out_of_stock", "there is none left; ask for another one", item="rice")


@dataclass
class Mcp:
    """A server, and what tests do with it."""

    server: ServerClient
    shop: Shop

    @property
    def url(self) -> str:
        return str(self.server.make_url("/mcp"))

    @property
    def host(self) -> Any:
        return self.server.running.host

    async def key(self, name: str = "robot") -> str:
        """A new key of a client, made by a person."""
        async with self.server.post("/api/mcp/clients", json={"name": name}) as answer:
            assert answer.status == 201, await answer.text()
            return str((await answer.json())["key"])

    @asynccontextmanager
    async def client(
        self, key: str, query: str = "?wait=1", mode: str = "legacy", **options: Any
    ) -> AsyncIterator[Client]:
        """The SDK's client."""
        shown = {"Authorization": f"Bearer {key}"}
        async with (
            httpx2.AsyncClient(headers=shown, timeout=LIMIT_S) as http,
            Client(streamable_http_client(self.url + query, http_client=http), mode=mode, **options) as client,
        ):
            yield client

    async def waiting(self, count: int = 1) -> list[Any]:
        """The calls that wait for a person, once there are so many."""
        async with asyncio.timeout(LIMIT_S):
            while len(found := self.host.approvals.waiting) != count:
                await asyncio.sleep(0.01)
        return list(found)

    async def decide(self, *, approved: bool = True) -> None:
        """Have the person decide on the call that waits."""
        (waiting,) = await self.waiting()
        decision = {"approved": approved, "digest": waiting.digest}
        person = await approver(self.server)
        assert (await person.ask("POST", f"/api/approvals/{waiting.call_id}/decision", decision))[0] == 200


@dataclass
class ByHand:
    """Requests as a client writes them."""

    url: str
    key: str
    session: str = ""

    async def post(self, message: Any, **headers: str) -> tuple[int, Any, dict[str, str]]:
        """Status, message and headers of an answer; of a stream its last message."""
        shown = {"Accept": ACCEPT, "Content-Type": "application/json", "Authorization": f"Bearer {self.key}"}
        if self.session:
            shown |= {"Mcp-Session-Id": self.session, "Mcp-Protocol-Version": REVISION}
        shown |= {name.replace("_", "-"): value for name, value in headers.items()}
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        async with (
            aiohttp.ClientSession() as client,
            client.post(self.url, data=io.BytesIO(body), headers=shown) as answer,
        ):
            return answer.status, _last(await answer.text()), dict(answer.headers)

    async def connect(self, version: str = REVISION) -> Any:
        """Shake hands; what the server says of itself."""
        client = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "hand", "version": "1"}}
        status, answer, headers = await self.post(request("initialize", client))
        assert status == 200, answer
        self.session = headers["Mcp-Session-Id"]
        assert (await self.post({"jsonrpc": "2.0", "method": "notifications/initialized"}))[0] == 202
        return answer["result"]

    async def end(self) -> None:
        """End the session, as a client does that is done."""
        shown = {"Authorization": f"Bearer {self.key}", "Mcp-Session-Id": str(self.session)}
        async with aiohttp.ClientSession(headers=shown) as http, http.delete(self.url) as answer:
            assert answer.status == 200

    async def call(self, tool: str, arguments: Any = None, request_id: Any = 7) -> Any:
        """The result of a call."""
        status, answer, _ = await self.post(
            request("tools/call", {"name": tool, "arguments": arguments or {}}, request_id)
        )
        assert status == 200, answer
        return answer["result"]


def request(method: str, params: Any = None, request_id: Any = 1) -> dict[str, Any]:
    """A request of JSON-RPC."""
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params or {}}


def _last(text: str) -> Any:
    lines = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
    said = lines[-1] if lines else text
    return json.loads(said) if said.startswith("{") else said


@pytest_asyncio.fixture
async def start_mcp(tmp_path: Any) -> AsyncIterator[Callable[..., Awaitable[Mcp]]]:
    """`await start_mcp(clients={…})`: a server with the shop; started again in the same test, it is the same one."""
    async with AsyncExitStack() as stack:

        async def start(modules: Any = (), **config: Any) -> Mcp:
            shop = Shop()
            plan = HostPlan([shop, *modules], config)
            held = await ContextTask.open(running_server(plan, tmp_path), "server")
            stack.push_async_callback(held.close)
            mcp = Mcp(held.value, shop)
            mcp.stop = held.close  # type: ignore[attr-defined]
            return mcp

        yield start


@pytest.fixture(scope="module")
def shared_mcp(shared_server: ServerClient, request: pytest.FixtureRequest) -> Mcp:
    """The shop's server for all tests of a file, whose `SERVER` has the shop as its only module."""
    (shop,) = request.module.SERVER["modules"]
    return Mcp(shared_server, shop)


@pytest.fixture
def by_hand() -> Callable[..., Awaitable[ByHand]]:
    """`await by_hand(mcp)`: a client of a name of its own that is connected."""

    async def connect(mcp: Mcp, name: str = "hand", query: str = "?wait=1") -> ByHand:
        hand = ByHand(mcp.url + query, await mcp.key(name))
        await hand.connect()
        return hand

    return connect


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_key(shared_mcp: Mcp) -> str:
    """The key of a client of the server that the tests of a file share."""
    return await shared_mcp.key("hand")


@pytest_asyncio.fixture(loop_scope="module")
async def hand(shared_mcp: Mcp, shared_key: str) -> ByHand:
    """A session of its own with the server that the tests of the file share."""
    hand = ByHand(f"{shared_mcp.url}?wait=1", shared_key)
    await hand.connect()
    return hand
