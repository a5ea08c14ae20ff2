"""A program that speaks the protocol of hosts by what docs/embedding.md says of it, and by nothing else."""

import asyncio
import json
import re
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from tests.hosts.two_machines import WAIT_S, Place, serving

pytestmark = [pytest.mark.spec("H5"), pytest.mark.source_tree]

PAGE = Path(__file__).parents[2] / "docs" / "embedding.md"
_BLOCK = re.compile(r'^```json title="([^"]+)"\n(.+?)^```$', re.MULTILINE | re.DOTALL)
SAYS = {title: json.loads(text) for title, text in _BLOCK.findall(PAGE.read_text())}
"""The page's messages, by their titles."""


class OwnHost:
    """One connection of such a program."""

    def __init__(self, socket):
        self._socket = socket

    async def say(self, title, **fields):
        """Send what the page shows, with other values."""
        await self._socket.send_json(SAYS[title] | fields)

    async def hear(self, title):
        """Wait for what the page shows; it has all the fields that it shows. Signs of life are given meanwhile."""
        async with asyncio.timeout(WAIT_S):
            while (said := await self._socket.receive_json())["type"] != SAYS[title]["type"]:
                if said["type"] == "ping":
                    await self.say("pong", n=said["n"])
        assert said.keys() >= SAYS[title].keys(), said
        return said

    async def greet(self):
        """From `hello` until calls come."""
        await self.say("hello")
        asked = await self.hear("definitions")
        tools = SAYS["hello"]["members"][0]["tools"]
        await self.say("reply", id=asked["id"], result={"tools": tools, "problems": []})
        greeted = await self.hear("hello.ok")
        await self.say("resource.all")
        await self.say("hello.done")
        return greeted


@asynccontextmanager
async def dialled(server, key=None):
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    async with (
        aiohttp.ClientSession(server.address, headers=headers) as client,
        client.ws_connect("/api/hosts/socket", protocols=("agentcore.host.1",)) as socket,
    ):
        yield OwnHost(socket)


async def let_in(server):
    async with dialled(server) as host:
        await host.say("hello")
        shown = await server.let_in((await host.hear("pair.code"))["code"])
        assert [tool["name"] for tool in shown["modules"][0]["tools"]] == ["page_open"]
        key = (await host.hear("pair.key"))["key"]
        await host.say("pair.kept")
        return key


@pytest.fixture
async def served(tmp_path):
    async with serving(Place(tmp_path, modules=[], approvals={"mode": "allow"})) as running:
        yield running


async def test_program_that_speaks_as_the_page_says_is_a_host(served):
    """It is let in, greets, opens a view for a resource, reports, answers, fails, is cancelled, and takes leave."""
    key = await let_in(served)
    async with dialled(served, key) as host:
        assert served.address in (await host.greet())["ownOrigins"]
        await served.host_is("my-shell", "running")

        calling = asyncio.create_task(served.call("page_open", url="https://example.org", session_id="one"))
        call = await host.hear("tool.call")
        assert call["resource"].keys() == SAYS["tool.call"]["resource"].keys()
        assert (call["resourceId"], call["resource"]["status"]) == ("page_one_0", "starting")
        ids = {"id": call["id"], "n": call["n"]}
        await host.say("resource.adopt")
        await host.say("resource.adopt", type="resource.update")
        await host.say("tool.progress", n=call["n"])
        await host.say("resource.event")
        await host.say("tool.result", **ids)
        assert (await calling)["data"] == {"title": "Example Domain"}
        (resource,) = (await served.get("/api/resources"))["resources"]
        assert (resource["status"], resource["adapterType"]) == ("ready", "shell")

        calling = asyncio.create_task(served.call("page_open", url="https://example.org", session_id="one"))
        call = await host.hear("tool.call")
        await host.say("tool.result that failed", id=call["id"], n=call["n"])
        assert (await calling)["error"]["type"] == "navigation_failed"

        calling = asyncio.create_task(served.call("page_open", url="https://example.org", session_id="one"))
        call = await host.hear("tool.call")
        await served.post(f"/api/calls/{call['id']}/cancel")
        assert (await host.hear("tool.cancel"))["n"] == call["n"]
        await host.say("tool.result that failed", id=call["id"], n=call["n"])
        assert (await calling)["error"]["type"] == "cancelled"

        ending = asyncio.create_task(served.delete("/api/resources/page_one_0"))
        asked = await host.hear("resource.release asked for")
        await host.say("reply", id=asked["id"])
        assert (await ending) == {"ok": True}
        await host.say("goodbye")
    await served.host_is("my-shell", "away")


async def test_view_that_is_closed_in_the_program_is_gone_in_the_server(served):
    key = await let_in(served)
    async with dialled(served, key) as host:
        await host.greet()
        await served.host_is("my-shell", "running")
        calling = asyncio.create_task(served.call("page_open", url="https://example.org", session_id="one"))
        call = await host.hear("tool.call")
        await host.say("resource.adopt")
        await host.say("tool.result", id=call["id"], n=call["n"])
        assert (await calling)["ok"]
        await host.say("resource.release told")
        async with asyncio.timeout(WAIT_S):
            while (await served.get("/api/resources"))["resources"]:
                await asyncio.sleep(0.05)
        await host.hear("ping")
