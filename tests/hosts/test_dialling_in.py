"""Hosts on other machines: let in by a person, their tools served, and what becomes of both without a connection."""

import asyncio
import json
import signal

import pytest

from tests.hosts.two_machines import WAIT_S, Place, dialling, paired, serving

pytestmark = pytest.mark.spec("H3")

SLOW = '''
import asyncio, os
from agentcore.api import Module, ToolContext, tool


class Slow(Module):
    """Works for long."""

    @tool(read_only=True, timeout_s=300)
    async def work(self, ctx: ToolContext, number: int) -> dict:
        """Note that it began, and end once it may."""
        root = str(ctx.workspace.roots[0])
        with open(os.path.join(root, "log"), "a") as log:
            log.write(f"{number}\\n")
        while not os.path.exists(os.path.join(root, "go")):
            await asyncio.sleep(0.02)
        return {"number": number}
'''

KEYED = '''
from agentcore.api import Module, ToolError, tool


class Keyed(Module):
    """Uses a key."""

    class Settings(Module.Settings):
        api_key: str

    @tool(read_only=True)
    async def fail(self) -> str:
        """Fail, and tell the key."""
        raise ToolError("bad_key", f"the key {self.runtime.settings.api_key} is refused")
'''


@pytest.fixture
def server_place(tmp_path):
    return Place(tmp_path / "server", modules=["fs_tools"], approvals={"mode": "allow"})


@pytest.fixture
def laptop(tmp_path):
    place = Place(tmp_path / "laptop", modules=["fs_tools", "slow"])
    place.add_module("slow", SLOW)
    (place.workspace / "where.txt").write_text("the laptop")
    return place


async def test_a_person_lets_a_host_in_by_its_code_and_its_tools_act_on_its_own_machine(server_place, laptop):
    (server_place.workspace / "where.txt").write_text("the server")
    async with serving(server_place) as server, dialling(laptop, server.address, "laptop") as worker:
        shown = await server.let_in(await worker.code())
        assert (shown["name"], shown["workspace"]) == ("laptop", [str(laptop.workspace)])
        assert {module["name"] for module in shown["modules"]} == {"fs_tools", "slow"}
        work = next(tool for module in shown["modules"] for tool in module["tools"] if tool["name"] == "work")
        assert work["effects"] == ["read"]
        host = await server.host_is("laptop", "running")
        assert {module["name"]: module["state"] for module in host["modules"]} == {"fs_tools": "ready", "slow": "ready"}
        there = await server.call("read_file", path="where.txt", host="laptop")
        here = await server.call("read_file", path="where.txt")
    assert "the laptop" in json.dumps(there)
    assert "the server" in json.dumps(here)


@pytest.mark.more
async def test_a_refused_host_has_no_key_and_a_wrong_code_finds_nothing(server_place, laptop):
    async with serving(server_place) as server, dialling(laptop, server.address, "laptop") as worker:
        code = await worker.code()
        wrong = await server.decide(
            "/api/host-pairings", code=f"{code[:6]}{'22222' if code[6:] != '22222' else '33333'}"
        )
        assert wrong["error"]["type"] == "invalid_code"
        shown = await server.decide("/api/host-pairings", code=code)
        path = f"/api/host-pairings/{shown['pairingId']}/decision"
        assert await server.decide(path, accept=False) == {"ok": True}
        assert (await server.decide(path, accept=True))["error"]["type"] == "pairing_not_found"
        assert await server.host("laptop") is None
        await worker.said("a person refused this host")
        again = await worker.said(r"(?s)approval view.*approval view of \S+: (\S+)")
        assert again[1] != code


@pytest.mark.more
async def test_secret_that_settings_of_a_host_spell_out_comes_back_in_no_error(server_place, tmp_path):
    laptop = Place(tmp_path / "laptop", modules=["keyed"], config={"keyed": {"api_key": "s3cret-literal"}})
    laptop.add_module("keyed", KEYED)
    async with serving(server_place) as server, paired(server, laptop, "laptop") as worker:
        await server.host_is("laptop", "running")
        refused = await server.call("fail", host="laptop")
        assert refused["error"]["message"] == "the key ••• is refused"
    assert "s3cret" not in json.dumps([refused, worker.lines])


@pytest.mark.more
async def test_five_wrong_secrets_void_a_code_and_the_host_shows_another_one(server_place, laptop):
    async with serving(server_place) as server, dialling(laptop, server.address, "laptop") as worker:
        code = await worker.code()
        for number in range(5):
            guess = f"{code[:6]}{str(number + 2) * 5}"
            assert (await server.decide("/api/host-pairings", code=guess))["error"]["type"] == "invalid_code"
        assert (await server.decide("/api/host-pairings", code=code))["error"]["type"] == "invalid_code"


@pytest.mark.more
async def test_neither_the_token_nor_a_page_lets_a_host_in(server_place, laptop):
    async with serving(server_place) as server, dialling(laptop, server.address, "laptop") as worker:
        answer = await server.post("/api/host-pairings", code=await worker.code())
    assert answer["error"]["type"] == "not_found"


@pytest.mark.more
async def test_calls_on_their_way_when_the_server_is_killed_end_once(server_place, laptop):
    """Ten calls on their way when the server is killed: the next one gives each its end, sent again with its id."""
    async with serving(server_place) as server:
        port = server.address.rpartition(":")[2]
        async with dialling(laptop, server.address, "laptop") as worker:
            await server.let_in(await worker.code())
            await server.host_is("laptop", "running")
            calls = [asyncio.create_task(server.call("work", number=number)) for number in range(10)]
            log = laptop.workspace / "log"
            async with asyncio.timeout(30):
                while not log.exists() or len(log.read_text().split()) < 10:
                    await asyncio.sleep(0.02)
            await server.kill()
            assert all(isinstance(each, Exception) for each in await asyncio.gather(*calls, return_exceptions=True))
            async with serving(server_place, "--port", port) as after:
                await after.host_is("laptop", "running")
                (laptop.workspace / "go").write_text("")
                async with asyncio.timeout(WAIT_S):
                    while len(rows := (await after.get("/api/calls?tool=work&limit=50"))["calls"]) < 10:
                        await asyncio.sleep(0.05)
                assert {row["outcome"] for row in rows} == {"ok"}
                again = [after.call("work", call_id=row["call_id"], **json.loads(row["arguments"])) for row in rows]
                ended = await asyncio.gather(*again)
    assert sorted(each["data"]["number"] for each in ended) == list(range(10))
    assert sorted(map(int, log.read_text().split())) == list(range(10)), "nothing ran twice"


@pytest.mark.more
async def test_a_killed_worker_ends_its_calls_and_comes_back_by_itself(server_place, laptop):
    async with serving(server_place) as server:
        async with paired(server, laptop, "laptop") as worker:
            call = asyncio.create_task(server.call("work", number=1))
            async with asyncio.timeout(30):
                while not (laptop.workspace / "log").exists():
                    await asyncio.sleep(0.02)
            await worker.kill()
            await server.host_is("laptop", "away")
        async with dialling(laptop, server.address, "laptop"):
            await server.host_is("laptop", "running")
            ended = await call
            (laptop.workspace / "go").write_text("")
            again = await server.call("work", number=2)
    assert ended["error"]["type"] == "module_failed"
    assert again["data"] == {"number": 2}
    assert (laptop.workspace / "log").read_text().split() == ["1", "2"]


@pytest.mark.more
async def test_a_stopped_worker_takes_leave_and_its_tools_are_never_those_of_another_machine(server_place, laptop):
    async with serving(server_place) as server:
        async with paired(server, laptop, "laptop") as worker:
            worker.send(signal.SIGTERM)
            await worker.process.wait()
            assert worker.process.returncode == 0
            host = await server.host_is("laptop", "away")
        answer = await server.call("read_file", path="where.txt", host="laptop")
    assert "ended" in host["reason"]
    assert answer["error"]["type"] == "host_away"
    assert answer["error"]["retryable"] is True


@pytest.mark.more
async def test_a_call_waits_for_a_host_that_is_away_and_runs_once_it_is_back(server_place, laptop):
    async with serving(server_place) as server, paired(server, laptop, "laptop") as worker:
        worker.send(signal.SIGSTOP)
        call = asyncio.create_task(server.call("read_file", path="where.txt", host="laptop"))
        worker.send(signal.SIGCONT)
        assert "the laptop" in json.dumps(await call)


@pytest.mark.more
async def test_a_forgotten_host_is_cut_off_and_its_program_says_so(server_place, laptop):
    async with serving(server_place) as server, paired(server, laptop, "laptop") as worker:
        assert await server.delete("/api/hosts/laptop") == {"ok": True}
        assert await server.host("laptop") is None
        await worker.said("does not let 'laptop' in")
        async with asyncio.timeout(30):
            assert await worker.process.wait() == 3
        answer = await server.call("read_file", path="where.txt", host="laptop")
    assert answer["error"]["type"] == "host_not_found"


@pytest.mark.more
async def test_a_disconnected_host_stays_out_until_it_is_let_in_again(server_place, laptop):
    async with serving(server_place) as server, paired(server, laptop, "laptop") as worker:
        assert (await server.post("/api/hosts/laptop/disconnect"))["state"] == "disconnected"
        await worker.said("was disconnected by a person")
        assert (await server.host("laptop"))["state"] == "disconnected"
        await server.post("/api/hosts/laptop/connect")
        await server.host_is("laptop", "running")


@pytest.mark.more
async def test_a_drained_host_takes_nothing_new(server_place, laptop):
    async with serving(server_place) as server, paired(server, laptop, "laptop"):
        assert (await server.post("/api/hosts/laptop/drain", on=True))["state"] == "drained"
        refused = await server.call("read_file", path="where.txt", host="laptop")
        assert (await server.post("/api/hosts/laptop/drain", on=False))["state"] == "running"
        taken = await server.call("read_file", path="where.txt", host="laptop")
    assert refused["error"]["type"] == "host_draining"
    assert taken["ok"] is True


@pytest.mark.more
async def test_a_second_program_with_the_same_key_is_turned_away(server_place, laptop):
    async with serving(server_place) as server, paired(server, laptop, "laptop"):
        twin = {"AGENTCORE_STATE_DIR": str(laptop.state.parent / "twin")}
        (laptop.state.parent / "twin").mkdir(mode=0o700)
        keys = laptop.state / "servers"
        (laptop.state.parent / "twin" / "servers").mkdir(mode=0o700)
        for key in keys.iterdir():
            copy = laptop.state.parent / "twin" / "servers" / key.name
            copy.write_bytes(key.read_bytes())
            copy.chmod(0o600)
        async with dialling(laptop, server.address, "laptop", **twin) as second:
            await second.said("is connected already")
        assert (await server.host("laptop"))["state"] == "running"


@pytest.mark.more
async def test_a_tool_that_changed_waits_for_a_person(server_place, laptop):
    async with serving(server_place) as server:
        async with paired(server, laptop, "laptop"):
            pass
        laptop.add_module("slow", SLOW.replace("Note that it began", "Erase all, and note that it began"))
        async with dialling(laptop, server.address, "laptop"):
            host = await server.host_is("laptop", "running")
            refused = await server.call("work", number=1)
            waiting = next(module for module in host["modules"] if module["name"] == "slow")
    assert (waiting["tools"], waiting["waiting"]) == (0, 1)
    assert refused["error"]["type"] == "definition_waits"


async def test_a_server_off_this_machine_is_dialled_with_tls_only(server_place, laptop):
    async with dialling(laptop, "http://192.0.2.1:8765", "laptop") as worker:
        async with asyncio.timeout(30):
            assert await worker.process.wait() == 2
    assert any("in the clear" in line for line in worker.lines)
