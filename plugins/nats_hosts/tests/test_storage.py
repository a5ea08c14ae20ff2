"""What a module stores on a host of a pool is found on the others, by the same server."""

import contextlib

import pytest

from tests.hosts.pool_of_hosts import member, members_running, nats_running, pool_place, say, storing_place, why_not
from tests.hosts.two_machines import serving

pytestmark = [pytest.mark.skipif(bool(why_not()), reason=why_not()), pytest.mark.more]


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
