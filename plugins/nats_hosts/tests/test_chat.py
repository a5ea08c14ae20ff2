"""A chat that works in a pool, one of whose hosts dies while a call of it runs."""

import asyncio
import contextlib
import json

import pytest

from tests.hosts.pool_of_hosts import member, member_place, members_running, nats_running, pool_place, why_not
from tests.hosts.two_machines import WAIT_S, Turn, serving
from tests.support.provider import provider
from tests.support.waiting import wait_until

__all__ = ["provider"]

pytestmark = [pytest.mark.skipif(bool(why_not()), reason=why_not()), pytest.mark.more]


async def test_chat_is_told_of_a_host_that_died_and_goes_on_with_another(tmp_path, provider):
    provider.say("", ("a", "count", "{}"))
    provider.say("", ("b", "count", json.dumps({"wait_for": "/nonexistent/go", "note": str(tmp_path / "log")})))
    provider.say("", ("c", "count", "{}"))
    provider.say("Done.")
    models = {"m": {"provider": "openai", "base_url": f"{provider.url}/v1", "api_key_env": "TEST_MODEL_KEY"}}
    async with contextlib.AsyncExitStack() as held:
        nats = await held.enter_async_context(nats_running(tmp_path / "nats"))
        workers = {
            name: await held.enter_async_context(member(member_place(tmp_path / name), nats, name))
            for name in ("one", "two")
        }
        place = pool_place(tmp_path / "near", nats, "counting", models=models)
        place.environ["TEST_MODEL_KEY"] = "sk-test"
        server = await held.enter_async_context(serving(place))
        await members_running(server, *workers)
        turn = Turn(server, (await server.post("/api/sessions"))["sessionId"])
        following = asyncio.create_task(turn.follow())
        await wait_until((tmp_path / "log").exists)
        (living,) = (await server.get("/api/resources"))["resources"]
        died = living["host"]
        await workers[died.removeprefix("farm.")].kill()
        await asyncio.wait_for(following, WAIT_S)
        (living,) = (await server.get("/api/resources"))["resources"]
        assert living["host"] not in ("", died)
        rows = (await server.get("/api/calls?tool=count&limit=50"))["calls"]
    first, cut_off, last = [each["content"] for each in provider.requests[-1]["messages"] if each["role"] == "tool"]
    assert "counter_" in str(first)
    assert died in str(cut_off)
    assert "whether the call had an effect is not known" in str(cut_off)
    assert "counter_" in str(last)
    assert sorted(row["outcome"] for row in rows) == ["interrupted", "ok", "ok"]
    assert [row["module"].partition("/")[0] == died for row in rows].count(True) == 2
    assert not [event for event in turn.seen if event["type"] == "session.error"]
