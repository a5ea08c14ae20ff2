"""What a module stores on a host of a pool is found on the others, by the same server."""

import contextlib

import pytest

from tests.hosts.pool_of_hosts import member, members_running, nats_running, pool_place, why_not
from tests.hosts.two_machines import Place, serving

pytestmark = [pytest.mark.skipif(bool(why_not()), reason=why_not()), pytest.mark.more]

STORING = '''
from agentcore.api import Module, ToolContext, tool


class Storing(Module):
    """Stores what it is given."""

    @tool()
    async def store(self, ctx: ToolContext, name: str, text: str, times: int = 1) -> str:
        """Store a text, so many times."""
        await self.runtime.storage.put(name, text.encode() * times)
        return "stored"

    @tool(read_only=True)
    async def look(self, ctx: ToolContext, name: str) -> str:
        """Give what was stored."""
        found = await self.runtime.storage.get(name)
        return "nothing" if found is None else found.decode()[-20:]

    @tool()
    async def drop(self, ctx: ToolContext, name: str) -> str:
        """Store it no more."""
        await self.runtime.storage.delete(name)
        return "dropped"
'''


def storing_place(folder):
    place = Place(folder, modules=["storing"])
    place.add_module("storing", STORING)
    return place


async def say(server, tool, session_id, /, **arguments):
    told = await server.call(tool, session_id=session_id, **arguments)
    assert told.get("ok"), told
    return told["content"][0]["text"]


async def test_what_one_host_stores_another_finds_and_another_server_does_not(tmp_path):
    """A host has room for one session: the two of the server are at two of the three hosts."""
    async with contextlib.AsyncExitStack() as held:
        nats = await held.enter_async_context(nats_running(tmp_path / "nats"))
        names = ("one", "two", "three")
        for name in names:
            await held.enter_async_context(member(storing_place(tmp_path / name), nats, name, "--capacity", "1"))
        near, other = [
            await held.enter_async_context(serving(pool_place(tmp_path / name, nats, "storing")))
            for name in ("near", "other")
        ]
        for server in (near, other):
            await members_running(server, *names)
        assert await say(near, "look", "here", name="../a b") == "nothing"
        for text in ("first", "last"):
            await say(near, "store", "there", name="../a b", text=text, times=400_000)
        assert await say(near, "look", "here", name="../a b") == "last" * 5
        assert await say(other, "look", "else", name="../a b") == "nothing"
        for _ in range(2):
            assert await say(near, "drop", "here", name="../a b") == "dropped"
        assert await say(near, "look", "there", name="../a b") == "nothing"
        await say(near, "store", "here", name="empty", text="")
        assert await say(near, "look", "there", name="empty") == ""
