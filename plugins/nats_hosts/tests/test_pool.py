"""A pool: servers find its hosts over NATS, what a session has stays together, and what dies is soon noticed."""

import asyncio
import contextlib
import signal

import pytest

from tests.hosts.pool_of_hosts import member, member_place, members_running, nats_running, pool_place, why_not
from tests.hosts.two_machines import Place, serving
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.skipif(bool(why_not()), reason=why_not())]


class Farm:
    """A pool with hosts, and the servers that use it."""

    def __init__(self, folder, nats, held):
        self.folder, self.nats, self._held = folder, nats, held
        self.workers = {}

    def place(self, name):
        """The machine of a host."""
        return Place(self.folder / name) if (self.folder / name).exists() else member_place(self.folder / name)

    async def host(self, name, *arguments, nats=None):
        """Start a host."""
        place = member_place(self.folder / name)
        self.workers[name] = await self._held.enter_async_context(member(place, nats or self.nats, name, *arguments))
        return self.workers[name]

    async def server(self, name="near", *arguments, **pool):
        """Start a server."""
        return await self._held.enter_async_context(
            serving(pool_place(self.folder / name, self.nats, "counting", **pool), *arguments)
        )

    def runs(self, name):
        """How often each call was begun, as the hosts say."""
        file = self.folder / name
        lines = file.read_text().split() if file.exists() else []
        return {each: lines.count(each) for each in lines}


@pytest.fixture
async def farm(tmp_path):
    async with contextlib.AsyncExitStack() as held:
        nats = await held.enter_async_context(nats_running(tmp_path / "nats"))
        yield Farm(tmp_path, nats, held)


async def hosts_of(server, session="s0"):
    """Where the resources of a session are."""
    found = (await server.get("/api/resources"))["resources"]
    return [each["host"] for each in found if each["chatSessionId"] == session]


async def counted(server, session="s0", **rest):
    """The count that a call gives."""
    said = await server.call("count", session_id=session, **rest)
    assert said["ok"], said
    return said["data"]["count"]


@pytest.mark.more
async def test_sessions_go_to_hosts_with_room_and_stay_where_they_are(farm):
    await farm.host("one", "--capacity", "3")
    await farm.host("two", "--capacity", "3")
    server = await farm.server()
    await members_running(server, "one", "two")
    for turn in (1, 2):
        for number in range(6):
            assert await counted(server, f"s{number}") == turn
    hosts = [each["host"] for each in (await server.get("/api/resources"))["resources"]]
    assert sorted(hosts) == ["farm.one"] * 3 + ["farm.two"] * 3
    full = await server.call("count", session_id="one-too-many")
    assert (full["error"]["type"], full["error"]["retryable"]) == ("pool_full", True)
    gone = (await server.get("/api/resources"))["resources"][0]
    await server.delete(f"/api/resources/{gone['resourceId']}")
    await wait_until(lambda: _fits(server, "one-too-many"))


async def _fits(server, session):
    return (await server.call("count", session_id=session))["ok"]


@pytest.mark.more
async def test_host_that_dies_is_noticed_and_the_next_call_goes_to_another(farm):
    await farm.host("one")
    server = await farm.server()
    await members_running(server, "one")
    assert await counted(server) == 1
    await farm.host("two")
    await members_running(server, "two")
    held = asyncio.create_task(server.call("count", wait_for=str(farm.folder / "go"), note=str(farm.folder / "log")))
    await wait_until(lambda: _begun(farm))
    began = asyncio.get_running_loop().time()
    await farm.workers["one"].kill()
    said = await held
    assert (said["error"]["type"], said["error"]["context"]["host"]) == ("interrupted", "farm.one")
    assert asyncio.get_running_loop().time() - began < 10  # 3 s on a machine that has nothing else to do
    assert await counted(server) == 1  # a new one
    assert await hosts_of(server) == ["farm.two"]
    gone = await server.call("count", resource_id="counter_s0_0")
    assert gone["error"]["type"] == "resource_not_found"
    assert "farm.one" in gone["error"]["message"], gone
    assert set(farm.runs("log").values()) == {1}


async def _begun(farm, number=1):
    return len(farm.runs("log")) >= number


@pytest.mark.more
async def test_nobody_is_asked_about_a_call_on_a_host_that_is_dying(farm):
    await farm.host("one")
    server = await farm.server()
    await members_running(server, "one")
    assert (await server.call("breathe"))["ok"]
    await farm.workers["one"].kill()
    said = [await server.call("breathe") for _ in range(4)]
    assert {each["error"]["type"] for each in said} <= {"host_away", "interrupted"}, said
    assert all(each["error"]["retryable"] for each in said if each["error"]["type"] == "host_away")


@pytest.mark.more
async def test_host_that_was_taken_for_dead_closes_what_it_had(farm):
    await farm.host("one")
    server = await farm.server()
    await members_running(server, "one")
    assert await counted(server) == 1
    farm.workers["one"].send(signal.SIGSTOP)
    await server.host_is("farm.one", "away")
    assert await hosts_of(server) == []
    farm.workers["one"].send(signal.SIGCONT)
    await members_running(server, "one")
    assert await counted(server) == 1
    assert await hosts_of(server) == ["farm.one"]


@pytest.mark.more
async def test_server_that_was_held_up_takes_nobody_for_dead(farm):
    await farm.host("one")
    server = await farm.server()
    await members_running(server, "one")
    assert await counted(server) == 1
    server.process.send_signal(signal.SIGSTOP)
    await asyncio.sleep(6)
    server.process.send_signal(signal.SIGCONT)
    assert await counted(server) == 2
    assert "host_died" not in str(server.log)


@pytest.mark.more
async def test_nats_that_is_killed_under_load_loses_no_call_and_runs_none_twice(farm):
    await farm.host("one", "--capacity", "60")
    server = await farm.server()
    await members_running(server, "one")
    log, go = farm.folder / "log", farm.folder / "go"
    calls = [
        asyncio.create_task(counted(server, f"s{number}", wait_for=str(go), note=str(log))) for number in range(50)
    ]
    await wait_until(lambda: _begun(farm))
    await farm.nats.kill()
    go.touch()
    await asyncio.sleep(1)
    await farm.nats.start()
    assert await asyncio.gather(*calls) == [1] * 50
    assert len(farm.runs("log")) == 50
    assert set(farm.runs("log").values()) == {1}
    assert await counted(server, "s7") == 2


@pytest.mark.more
async def test_host_that_finds_nats_again_later_than_the_server_keeps_what_it_has(farm):
    await farm.host("late")
    server = await farm.server()
    await members_running(server, "late")
    assert await counted(server) == 1
    await farm.host("other")
    await members_running(server, "other")
    await farm.nats.kill()
    farm.workers["late"].send(signal.SIGSTOP)
    await farm.nats.start()
    await wait_until(lambda: _drains(server, "farm.other"))
    await farm.workers["other"].kill()
    await wait_until(lambda: "host_died" in str(server.log))
    assert "farm.late" not in str([line for line in server.log if line["event"] == "host_died"])
    farm.workers["late"].send(signal.SIGCONT)
    await server.host_is("farm.late", "running")
    assert await counted(server) == 2


async def _drains(server, name):
    """Return True if the host accepts a command, which shows that the server is in touch with it."""
    return "error" not in await server.post(f"/api/hosts/{name}/drain", on=True)


@pytest.mark.more
async def test_next_start_of_a_killed_server_finds_what_is_its_own(farm):
    await farm.host("one")
    server = await farm.server()
    await members_running(server, "one")
    assert await counted(server) == 1
    log, go = farm.folder / "log", farm.folder / "go"
    lost = [asyncio.create_task(counted(server, f"s{number}", wait_for=str(go), note=str(log))) for number in range(9)]
    await wait_until(lambda: _begun(farm, 9))
    await server.kill()
    assert all(isinstance(each, Exception) for each in await asyncio.gather(*lost, return_exceptions=True))
    server = await farm.server()
    await members_running(server, "one")
    go.touch()
    await wait_until(lambda: _recorded(server, 10))
    rows = (await server.get("/api/calls?tool=count&limit=50"))["calls"]
    assert {row["outcome"] for row in rows} == {"ok"}, rows
    assert list(farm.runs("log").values()) == [1] * 9
    assert [await counted(server, f"s{number}") for number in (0, 1)] == [3, 2]


async def _recorded(server, number):
    return len((await server.get("/api/calls?tool=count&limit=50"))["calls"]) == number


@pytest.mark.more
async def test_two_servers_share_hosts_and_neither_sees_what_is_the_others(farm):
    await farm.host("one", "--capacity", "3")
    near, far = await farm.server("near"), await farm.server("far")
    for server in (near, far):
        await members_running(server, "one")
    assert [await counted(near), await counted(far), await counted(far), await counted(near)] == [1, 1, 2, 2]
    assert await counted(far, "s1") == 1
    for server in (near, far):
        assert (await server.call("count", session_id="s9"))["error"]["type"] == "pool_full"
    assert len((await near.get("/api/resources"))["resources"]) == 1


@pytest.mark.more
async def test_drained_host_takes_nothing_new_from_any_server_and_ends_with_what_it_has(farm):
    await farm.host("one")
    near, far = await farm.server("near"), await farm.server("far")
    for server in (near, far):
        await members_running(server, "one")
    assert await counted(near) == 1
    assert (await near.post("/api/hosts/farm.one/drain", on=True))["state"] == "draining"
    await far.host_is("farm.one", "drained")
    assert await counted(near) == 2
    for server in (near, far):
        assert (await server.call("count", session_id="s1"))["error"]["type"] == "pool_full"
    await near.delete("/api/resources/counter_s0_0")
    await near.host_is("farm.one", "drained")
    await near.post("/api/hosts/farm.one/drain", on=False)
    await members_running(near, "one")
    assert await counted(near, "s1") == 1
    refused = await near.post("/api/hosts/farm.one/disconnect")
    assert refused["error"]["type"] == "host_in_pool"


@pytest.mark.more
async def test_large_results_pass(farm):
    await farm.host("one")
    server = await farm.server()
    await members_running(server, "one")
    said = await server.call("weigh", size=3_000_000)
    assert said["ok"], said
    drawn = await asyncio.gather(*(server.call("draw", size=2_000_000) for _ in range(4)))
    assert all(each["ok"] for each in drawn), drawn


@pytest.mark.more
async def test_hosts_without_the_labels_that_are_wanted_are_not_used(farm):
    await farm.host("plain")
    await farm.host("strong", "--label", "gpu", "--label", "eu")
    server = await farm.server(labels=["eu", "gpu"])
    await members_running(server, "strong")
    assert await counted(server) == 1
    assert await hosts_of(server) == ["farm.strong"]
    assert await server.host("farm.plain") is None


@pytest.mark.more
async def test_pool_that_cannot_be_reached_says_so_and_its_calls_can_be_tried_again(farm):
    await farm.nats.kill()
    server = await farm.server()
    said = await server.call("count")
    assert said["error"]["type"] in ("host_away", "unknown_tool")
    assert (await server.host("farm"))["state"] == "away"
    await farm.nats.start()
    await farm.host("one")
    await members_running(server, "one")
    assert await counted(server) == 1


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--server", "nats://192.0.2.1:4222"), "in the clear"),
        (("--server", "http://127.0.0.1:4222"), "no address of NATS"),
        (("--server", "nats://ada:word@127.0.0.1:4222"), "log-in"),
        (("--label", "GPU"), "cannot be a label"),
        (("--pool", "Farm"), "cannot be a pool's name"),
    ],
)
async def test_what_a_person_gives_wrongly_is_said_at_once(tmp_path, words, reason):
    nats = type("Nats", (), {"address": "nats://127.0.0.1:4222"})
    async with member(member_place(tmp_path / "one"), nats, "one", *words) as worker:
        await worker.said(reason)
        assert await worker.process.wait() != 0
