"""WebSockets of a module that runs in a process of its own end as its handler ends them."""

import aiohttp
import pytest
import pytest_asyncio

from agentcore.api import Module, Request, ToolError
from agentcore.testing.hosting import HostPlan
from agentcore.testing.serving import running_server


class Talking(Module):
    """Talks over WebSockets."""

    async def init(self, runtime) -> None:
        """Serve one address."""
        runtime.add_route("GET", "talk/{how}", self.talk, kind="websocket")

    async def talk(self, request: Request) -> None:
        """End in one of several ways."""
        how, socket = request.path_values["how"], request.socket
        await socket.send("hello")
        if how == "error":
            raise ToolError("not_here", "there is none")
        if how == "defect":
            raise RuntimeError("a defect")
        if how == "closes":
            await socket.close(4321, "enough")
        if how == "echoes":
            async for message in socket:
                await socket.send(message)


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["process", "server"])
async def client(request, tmp_path_factory):
    """The server, with its module in a process of its own or in the server's."""
    plan = HostPlan([Talking()], isolation=request.param)
    async with running_server(plan, tmp_path_factory.mktemp("talking")) as made:
        yield made


@pytest.mark.parametrize(
    ("how", "code", "reason"),
    [
        ("error", 1008, "not_here"),
        ("defect", 1011, "internal_error"),
        ("closes", 4321, "enough"),
        ("returns", 1000, ""),
    ],
)
async def test_socket_is_closed_as_the_handler_ends(client, how, code, reason):
    socket = await client.ws_connect(f"/api/modules/talking/talk/{how}")
    assert (await socket.receive_str()) == "hello"
    end = await socket.receive()
    assert (end.type, end.data, end.extra) == (aiohttp.WSMsgType.CLOSE, code, reason)


async def test_what_a_client_says_at_once_is_heard(client):
    for _ in range(20):
        socket = await client.ws_connect("/api/modules/talking/talk/echoes")
        await socket.send_str("first")
        assert [await socket.receive_str(), await socket.receive_str()] == ["hello", "first"]
        await socket.close()


async def test_messages_go_both_ways_until_the_client_leaves(client):
    socket = await client.ws_connect("/api/modules/talking/talk/echoes")
    assert (await socket.receive_str()) == "hello"
    for message in (b"x" * 300_000, b"y"):
        await socket.send_bytes(message)
        assert (await socket.receive_bytes()) == message
    await socket.close()
