"""A pool on the command line: listed with its hosts, drained host by host, looked at by the doctor."""

import asyncio
import contextlib
import subprocess

import pytest

from tests.forking import start_command
from tests.hosts.pool_of_hosts import member, member_place, members_running, nats_running, pool_place, why_not
from tests.hosts.two_machines import Place, serving

pytestmark = [pytest.mark.spec("H3"), pytest.mark.skipif(bool(why_not()), reason=why_not())]


async def run(place, *words):
    """What a command prints, and its exit code."""
    process = await start_command(
        *words,
        cwd=place.folder,
        env=place.environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    printed = await process.read_to_end()
    return process.returncode, printed


async def test_hosts_of_a_pool_are_listed_and_drained_and_what_is_not_up_to_the_server_says_so(tmp_path):
    """Two hosts, then: one is drained, refused what NATS decides, and given work again."""
    async with contextlib.AsyncExitStack() as held:
        nats = await held.enter_async_context(nats_running(tmp_path / "nats"))
        place = pool_place(tmp_path / "near", nats, "counting", "absent")
        server = await held.enter_async_context(serving(place))
        for name, words in (("box2", ("--capacity", "3", "--label", "gpu")), ("box10", ())):
            await held.enter_async_context(member(member_place(tmp_path / name), nats, name, *words))
            await members_running(server, name)
            if name == "box2":
                said = await server.call("count", session_id="s1")
                assert said["ok"], said
        async with asyncio.timeout(30):
            while (await server.host("farm.box2"))["used"] != 1:
                await asyncio.sleep(0.05)

        _, said = await run(place, "hosts")
        lines = said.splitlines()
        assert lines[:3] == ["pool farm is running", f"  NATS     {nats.address}", "  modules  counting, absent"], said
        assert "2 of 2 are there, 1 of 23 in use" in lines[3], said
        assert [line.split()[0] for line in lines[4:]] == ["HOST", "farm.box2", "farm.box10"], said
        assert "1 of 3" in lines[5], said
        assert "gpu" in lines[5], said
        assert "counting (4)" in lines[5], said

        assert await run(place, "hosts", "drain", "farm.box2") == (0, "farm.box2 is draining.\n")
        for command in (("disconnect",), ("connect",), ("forget",), ("forget", "--yes")):
            code, said = await run(place, "hosts", *command, "farm.box2")
            assert code, (command, said)
            assert "is of a pool" in said, (command, said)
        for words, text in (
            (("pair", "farm.box2"), "NATS does"),
            (("drain", "farm"), "'farm' is a pool"),
            (("drain", "farm.box3"), "nothing was heard of host 'farm.box3'"),
            (("restart", "farm.box2"), "is not on this machine"),
        ):
            code, said = await run(place, "hosts", *words)
            assert code, (words, said)
            assert text in said, (words, said)
        _, said = await run(place, "doctor")
        for text in ("2 of 2 hosts are there", "takes nothing new: farm.box2", "none of its hosts has module 'absent'"):
            assert text in said, said
        assert await run(place, "hosts", "undrain", "farm.box2") == (0, "farm.box2 is running.\n")


@pytest.mark.more
async def test_pool_without_hosts_says_how_one_is_started_and_one_that_failed_says_why(tmp_path):
    async with nats_running(tmp_path / "nats") as nats:
        place = pool_place(tmp_path / "near", nats, "counting", labels=["gpu"])
        start = f"agentcore host --server {nats.address} --pool farm"
        async with serving(place) as server:
            async with asyncio.timeout(30):
                while (await server.host("farm"))["reason"] != "no host of it is there":
                    await asyncio.sleep(0.05)
            _, said = await run(place, "hosts")
            assert "pool farm is away: no host of it is there" in said, said
            assert f"{start} --label gpu" in said, said
            _, said = await run(place, "doctor")
            assert "away: no host of it is there" in said, said
            assert start in said, said
        place.write_app(hosts={"farm": {"kind": "nats", "servers": [nats.address], "modules": ["a"], "key": "no.seed"}})
        async with serving(place) as server:
            await server.host_is("farm", "failed")
            _, said = await run(place, "hosts")
            assert "pool farm is failed" in said, said
            assert "no.seed cannot be read" in said, said
            _, said = await run(place, "doctor")
            assert "failed: hosts.farm: the key" in said, said


@pytest.mark.more
async def test_call_that_waits_for_a_person_names_the_host_that_it_would_run_on(tmp_path):
    async with contextlib.AsyncExitStack() as held:
        nats = await held.enter_async_context(nats_running(tmp_path / "nats"))
        farm = {"kind": "nats", "servers": [nats.address], "modules": ["counting"]}
        place = Place(
            tmp_path / "near",
            modules=[],
            hosts={"farm": farm},
            approvals={"mode": "ask", "rules": [{"decision": "ask", "tool": "count"}]},
        )
        server = await held.enter_async_context(serving(place))
        await held.enter_async_context(member(member_place(tmp_path / "box7"), nats, "box7"))
        await members_running(server, "box7")
        calling = asyncio.create_task(server.call("count", timeout_ms=20_000))
        async with asyncio.timeout(20):
            while not (waiting := (await server.get("/api/approvals"))["calls"]):
                await asyncio.sleep(0.05)
        assert [each["host"] for each in waiting] == ["farm.box7"], waiting
        calling.cancel()
