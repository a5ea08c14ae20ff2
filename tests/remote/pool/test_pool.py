"""A pool: servers find its hosts over NATS, and what a session has stays together."""

import contextlib

import pytest

from tests.remote.pool_of_hosts import member, member_place, members_running, nats_running, pool_place, why_not
from tests.remote.two_machines import serving

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())


@pytest.fixture
async def nats(tmp_path):
    async with nats_running(tmp_path / "nats") as running:
        yield running


async def test_sessions_go_to_hosts_with_room_and_stay_where_they_are(tmp_path, nats):
    async with contextlib.AsyncExitStack() as held:
        for name in ("one", "two"):
            await held.enter_async_context(member(member_place(tmp_path / name), nats, name, "--capacity", "3"))
        server = await held.enter_async_context(serving(pool_place(tmp_path / "near", nats, "counting")))
        await members_running(server, "one", "two")
        for turn in (1, 2):
            for number in range(6):
                said = await server.call("count", session_id=f"s{number}")
                assert (said.get("data") or {}).get("count") == turn, said
        hosts = [each["host"] for each in (await server.get("/api/resources"))["resources"]]
        assert sorted(hosts) == ["farm.one"] * 3 + ["farm.two"] * 3
        full = await server.call("count", session_id="one-too-many")
        assert full["error"]["type"] == "pool_full", full
