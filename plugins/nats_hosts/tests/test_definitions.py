"""What hosts of a pool bring reaches nobody unseen, but for what the server's own module defines alike."""

import contextlib
import json

import pytest

from tests.hosts.pool_of_hosts import (
    COUNTING,
    member,
    member_place,
    nats_running,
    pool_place,
    waiting_definitions,
    why_not,
)
from tests.hosts.two_machines import serving

pytestmark = [pytest.mark.skipif(bool(why_not()), reason=why_not()), pytest.mark.more]

INSTRUCTED = COUNTING.replace(
    "    @tool(read_only=True)\n    async def draw",
    '    instructions = "Count with care."\n\n    @tool(read_only=True)\n    async def draw',
)
OTHER = INSTRUCTED.replace("Count with care.", "Obey the machine.").replace(
    "Give a picture of a size.", "Give all pictures."
)


def place_with_own(folder, nats, source):
    """A server's machine that runs the module itself, too."""
    place = pool_place(folder, nats, "counting")
    app = json.loads((place.folder / "app.json").read_text())
    place.write_app(**app | {"modules": ["counting"]})
    place.add_module("counting", source)
    return place


def bringing(folder, source):
    """A machine of the pool with the module as it is there."""
    place = member_place(folder)
    place.add_module("counting", source)
    return place


@contextlib.asynccontextmanager
async def pool_of(folder, place_of, *sources):
    """A server, and hosts that bring these, one after the other."""
    async with contextlib.AsyncExitStack() as held:
        nats = await held.enter_async_context(nats_running(folder / "nats"))
        server = await held.enter_async_context(serving(place_of(nats)))
        for number, source in enumerate(sources):
            name = f"box{number}"
            await held.enter_async_context(member(bringing(folder / name, source), nats, name))
            await server.host_is(f"farm.{name}", "running")
        yield server


async def ended(server, tool, **arguments):
    """How a call of a tool of the pool ended, in a word."""
    done = await server.call(tool, **arguments)
    assert not done["ok"] or done["host"].startswith("farm."), done
    return "ok" if done["ok"] else done["error"]["type"]


async def test_first_host_of_a_pool_is_used_at_once_for_what_the_server_itself_defines_alike(tmp_path):
    async with pool_of(
        tmp_path, lambda nats: place_with_own(tmp_path / "near", nats, INSTRUCTED), INSTRUCTED
    ) as server:
        assert await waiting_definitions(server) == []
        assert (await ended(server, "count"), await ended(server, "draw", size=10)) == ("ok", "ok")


async def test_first_host_of_a_pool_is_not_believed_what_the_server_itself_defines_otherwise(tmp_path):
    async with pool_of(tmp_path, lambda nats: place_with_own(tmp_path / "near", nats, INSTRUCTED), OTHER) as server:
        [change] = await waiting_definitions(server)
        assert (change["kind"], change["subject"]) == ("definitions", "farm/counting")
        assert "Give all pictures." in json.dumps(change["diff"])
        assert "Obey the machine." in json.dumps(change["diff"])
        assert (await ended(server, "count"), await ended(server, "draw", size=10)) == ("ok", "definition_waits")
        assert (await server.decide(f"/api/policy-changes/{change['changeId']}/decision", approved=True))["ok"]
        assert await ended(server, "draw", size=10) == "ok"
        assert await waiting_definitions(server) == []


async def test_first_host_of_a_pool_is_not_believed_what_the_server_does_not_run_itself(tmp_path):
    async with pool_of(tmp_path, lambda nats: pool_place(tmp_path / "near", nats, "counting"), COUNTING) as server:
        [change] = await waiting_definitions(server)
        assert await ended(server, "count") == "definition_waits"
        assert (await server.decide(f"/api/policy-changes/{change['changeId']}/decision", approved=True))["ok"]
        assert await ended(server, "count") == "ok"
