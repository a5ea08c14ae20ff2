"""A module of the server asks itself on another machine; no other machine can ask anything by it."""

import asyncio
import json
import signal

import pytest

from tests.hosts.fake_machine import FakeMachine, Message, lying_machine
from tests.hosts.two_machines import WAIT_S, Place, paired, serving

pytestmark = pytest.mark.spec("H3")

ECHO = '''
import asyncio, hashlib, os
from agentcore.api import Module, ToolContext, ToolError, tool


class Echo(Module):
    """Asks itself on other machines."""

    class Settings(Module.Settings):
        answers: bool = True

    def init(self, runtime):
        if self.settings.answers:
            runtime.answer_hosts(self._answer)

    async def _answer(self, request, data):
        root = str(self.runtime.workspace.roots[0])
        match request["wants"]:
            case "digest":
                return {"root": root, "digest": hashlib.sha256(data or b"").hexdigest()}, (data or b"")[::-1]
            case "error":
                raise ToolError("echo_refuses", "not this", why="because")
            case "defect":
                raise KeyError("nothing")
            case "wrong":
                return {"set": {1, 2}}, None
            case "large":
                return {}, b"x" * (4 * 1024 * 1024 + 1)
            case "wait":
                open(os.path.join(root, "begun"), "w").close()
                try:
                    await asyncio.sleep(300)
                finally:
                    open(os.path.join(root, "cancelled"), "w").close()

    @tool(read_only=True, timeout_s=120)
    async def echo_ask(
        self, ctx: ToolContext, host_: str, wants: str = "digest", size: int = 0, limit: float = 30
    ) -> dict:
        """Ask."""
        data = os.urandom(size) if size else None
        answer, back = await ctx.ask_host(host_, {"wants": wants}, data, timeout_s=limit)
        same = back is None or back[::-1] == (data or b"")
        return {**answer, "same": same, "own": hashlib.sha256(data or b"").hexdigest()}

    @tool(read_only=True)
    async def echo_hosts(self) -> list:
        """Which hosts there are."""
        return [
            {"name": each.name, "state": each.state, "platform": each.platform, "folders": list(each.workspace),
             "modules": list(each.modules), "is_connected": each.is_connected}
            for each in self.runtime.hosts()
        ]
'''

LONE = '''
from agentcore.api import Module, ToolContext, tool


class {name}(Module):
    """Calls another tool."""

    @tool(read_only=True)
    async def {tool}(self, ctx: ToolContext, host_: str) -> dict:
        """Have another one ask, or ask by itself."""
        {body}
'''
NEST = LONE.format(name="Nest", tool="nest", body='return (await ctx.call("deaf_ask", {"host_": host_})).data')
DEAF = LONE.format(name="Deaf", tool="deaf_ask", body='return (await ctx.ask_host(host_, {"wants": "x"}))[0]')


@pytest.fixture
def server_place(tmp_path):
    place = Place(tmp_path / "server", modules=["echo", "deaf"], approvals={"mode": "allow"})
    place.add_module("echo", ECHO)
    place.add_module("deaf", DEAF)
    return place


@pytest.fixture
def laptop(tmp_path):
    place = Place(tmp_path / "laptop", modules=["echo", "nest"])
    place.add_module("echo", ECHO)
    place.add_module("nest", NEST)
    return place


async def test_a_module_asks_itself_on_another_machine_and_here(server_place, laptop):
    async with serving(server_place) as server, paired(server, laptop, "laptop"):
        there = await server.call("echo_ask", host_="laptop", size=4 * 1024 * 1024)
        plain = await server.call("echo_ask", host_="laptop")
        here = await server.call("echo_ask", host_="", size=100)
        hosts = await server.call("echo_hosts")
        hosts_there = await server.call("echo_hosts", host="laptop")
    assert there["data"]["root"] == plain["data"]["root"] == str(laptop.workspace)
    assert there["data"]["digest"] == there["data"]["own"]
    assert there["data"]["same"] is True
    assert here["data"]["root"] == str(server_place.workspace)
    [known] = hosts["data"]
    assert known["name"] == "laptop"
    assert (known["state"], known["is_connected"], known["folders"]) == ("running", True, [str(laptop.workspace)])
    assert known["modules"] == ["echo", "nest"]
    assert known["platform"]
    assert hosts_there["data"] == [], "what runs elsewhere is told of none"


@pytest.mark.more
async def test_what_goes_wrong_there_is_an_error_of_the_call(server_place, laptop):
    async with serving(server_place) as server, paired(server, laptop, "laptop"):

        async def error(**arguments):
            return (await server.call("echo_ask", **({"host_": "laptop"} | arguments)))["error"]

        assert (await error(host_="desktop"))["type"] == "host_not_found"
        refused = await error(wants="error")
        assert (refused["type"], refused["context"]["why"]) == ("echo_refuses", "because")
        failed = await error(wants="defect")
        assert failed["type"] == "host_failed"
        assert "KeyError" in failed["message"]
        assert (await error(wants="wrong"))["type"] == "host_failed"
        assert (await error(size=4 * 1024 * 1024 + 1))["type"] == "message_too_large"
        assert (await error(wants="large"))["type"] == "message_too_large"
        assert (await error(wants="wait", limit=0.5))["type"] == "host_timeout"
        async with asyncio.timeout(WAIT_S):
            while not (laptop.workspace / "cancelled").exists():
                await asyncio.sleep(0.02)
        missing = await server.call("deaf_ask", host_="laptop")
        assert missing["error"]["type"] == "host_has_no_module"
        deaf = await server.call("deaf_ask", host_="")
        assert deaf["error"]["type"] == "host_has_no_module"


@pytest.mark.more
async def test_a_module_there_that_answers_nothing_says_so(server_place, laptop):
    laptop.write_app(modules=["echo", "nest"], config={"echo": {"answers": False}})
    async with serving(server_place) as server, paired(server, laptop, "laptop"):
        answer = await server.call("echo_ask", host_="laptop")
    assert answer["error"]["type"] == "host_has_no_module"


@pytest.mark.more
async def test_a_cancelled_call_cancels_what_it_has_asked(server_place, laptop):
    async with serving(server_place) as server, paired(server, laptop, "laptop"):
        body = {"arguments": {"host_": "laptop", "wants": "wait"}, "session_id": "s0"}
        headers = {"Accept": "text/event-stream"}
        async with (
            asyncio.timeout(WAIT_S),
            server._client.post("/api/tools/echo_ask/call", json=body, headers=headers) as response,
        ):
            while not (line := await response.content.readline()).startswith(b"data: "):
                pass
            while not (laptop.workspace / "begun").exists():
                await asyncio.sleep(0.02)
            await server.post(f"/api/calls/{json.loads(line.removeprefix(b'data: '))['callId']}/cancel")
            assert b'"cancelled"' in await response.content.read()
            while not (laptop.workspace / "cancelled").exists():
                await asyncio.sleep(0.02)


@pytest.mark.more
async def test_a_host_that_goes_away_before_it_answers_is_away(server_place, laptop):
    async with serving(server_place) as server, paired(server, laptop, "laptop") as worker:
        calling = asyncio.create_task(server.call("echo_ask", host_="laptop", wants="wait"))
        async with asyncio.timeout(WAIT_S):
            while not (laptop.workspace / "begun").exists():
                await asyncio.sleep(0.02)
        worker.send(signal.SIGKILL)
        lost = await calling
        await server.host_is("laptop", "away")
        after = await server.call("echo_ask", host_="laptop")
        hosts = await server.call("echo_hosts")
    assert lost["error"]["type"] == after["error"]["type"] == "host_away"
    assert lost["error"]["retryable"] is after["error"]["retryable"] is True
    assert [(each["state"], each["is_connected"]) for each in hosts["data"]] == [("away", False)]


@pytest.mark.more
async def test_another_machine_asks_nobody_neither_itself_nor_by_a_call_of_its_own(server_place, laptop):
    async with serving(server_place) as server, paired(server, laptop, "laptop"):
        itself = await server.call("echo_ask", host="laptop", host_="laptop")
        there = await server.call("echo_ask", host="laptop", host_="")
        nested = await server.call("nest", host="laptop", host_="")
    assert itself["error"]["type"] == there["error"]["type"] == "hosts_not_reachable"
    assert nested["error"]["type"] == "hosts_not_reachable"


LIES = {
    "no object": (lambda m: _reply([]), "host_failed"),
    "an answer that is none": (lambda m: _reply({"answer": 7}), "host_failed"),
    "a blob that is none": (lambda m: _reply({"answer": {}, "blob": True}), "host_failed"),
    "a blob that did not come": (lambda m: _reply({"answer": {}, "blob": 99}), "host_away"),
    "an error that is none": (lambda m: _reply({"failed": {"type": 7}}), "host_failed"),
    "a blob that is too large": (lambda m: _large, "host_away"),
    "an answer that is too large": (lambda m: _reply({"answer": {"x": "x" * 5_000_000}}), "host_failed"),
}


def _reply(result):
    async def answer(machine: FakeMachine, message: Message) -> None:
        await machine.reply(message, result)

    return answer


async def _large(machine: FakeMachine, message: Message) -> None:
    await machine.reply(message, {"answer": {}, "blob": await machine.blob(b"x" * (4 * 1024 * 1024 + 1))})


@pytest.mark.more
async def test_what_a_lying_host_answers_is_not_believed(server_place):
    async with serving(server_place) as server:
        for number, (lie, (make, expected)) in enumerate(LIES.items()):
            name = f"liar{number}"
            async with lying_machine(server, name, ["echo"], make(None)) as machine:
                answer = await server.call("echo_ask", host_="" + name)
                assert answer["error"]["type"] == expected, lie
                if expected == "host_away":
                    await server.host_is(name, "away")
                    assert "none of this protocol" in (machine.goodbye or ""), lie


async def test_a_lying_host_reaches_nothing_by_questions_of_its_own(server_place):
    async with serving(server_place) as server, lying_machine(server, "liar", ["echo"], _large) as machine:
        for kind in ("module.ask", "host.ask", "ask_host"):
            await machine.say(kind, id=7, module=1, host="", n=1, request={"wants": "digest"}, blob=None)
            async with asyncio.timeout(WAIT_S):
                told = await machine.replies.get()
            assert told["ok"] is False
            assert told["error"]["type"] == "unknown_message"
        hosts = await server.call("echo_hosts")
    [known] = hosts["data"]
    assert known["platform"] == "Linux \N{REPLACEMENT CHARACTER}x86"
    assert known["folders"] == ["/home/eve\N{REPLACEMENT CHARACTER}laptop: /etc"]
