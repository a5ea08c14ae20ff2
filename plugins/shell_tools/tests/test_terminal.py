"""The WebSocket of a terminal view, over the real server."""

import asyncio
import json

import aiohttp
import pytest

pytestmark = pytest.mark.spec("T4", "K6")
PATIENCE_S = 60


@pytest.fixture
async def client(agentcore_client, root, config):
    return await agentcore_client(["shell_tools"], roots=[root], config=config)


@pytest.fixture
def spawn(client):
    async def run(command, **options):
        result = await client.running.call("bash", command=command, background=True, **options)
        return result.data["process_id"]

    return run


class View:
    """What a page sees of a process."""

    def __init__(self, socket):
        self.socket = socket
        self.output = b""
        self.told = []

    async def until(self, condition):
        async with asyncio.timeout(PATIENCE_S):
            while not condition(self):
                message = await self.socket.receive()
                if message.type is aiohttp.WSMsgType.BINARY:
                    self.output += message.data
                    await self.say(type="seen", bytes=len(self.output))
                else:
                    assert message.type is aiohttp.WSMsgType.TEXT, message
                    self.told.append(json.loads(message.data))

    async def say(self, **message):
        await self.socket.send_str(json.dumps(message))

    def sizes(self):
        return [(told["columns"], told["rows"]) for told in self.told if told["type"] == "size"]

    def errors(self):
        return [told for told in self.told if told["type"] == "error"]

    def states(self):
        return [told for told in self.told if told["type"] == "state"]


@pytest.fixture
async def view(client):
    opened = []

    async def open_view(process_id):
        socket = await client.ws_connect(f"/api/modules/shell_tools/terminals/{process_id}")
        opened.append(socket)
        return View(socket)

    yield open_view
    for socket in opened:
        await socket.close()


async def test_view_shows_what_was_written_and_what_comes(view, spawn):
    seen = await view(await spawn("echo early; echo error >&2; read; echo late; exit 3"))
    await seen.until(lambda view: b"early" in view.output and b"error" in view.output)
    assert seen.states()[0]["isRunning"]
    await seen.say(type="input", text="\r")
    await seen.until(lambda view: len(view.states()) == 2)
    assert b"late" in seen.output
    assert (seen.states()[1]["isRunning"], seen.states()[1]["exitCode"]) == (False, 3)


async def test_typing_interrupts_and_ends_input_like_at_any_terminal(view, spawn):
    interrupted = await view(await spawn("sleep 600"))
    await interrupted.say(type="input", text="\x03")
    await interrupted.until(lambda view: len(view.states()) == 2)
    assert interrupted.states()[1]["signal"] == "SIGINT"
    ended = await view(await spawn("cat; echo over"))
    await ended.say(type="input", text="word\r\x04")
    await ended.until(lambda view: b"over" in view.output)
    assert ended.output.count(b"word") == 2  # its echo, and what cat made of it


async def test_size_of_the_view_becomes_that_of_the_terminal(view, spawn):
    seen = await view(await spawn("trap 'stty size' WINCH; echo up; while :; do sleep 0.1; done", terminal=True))
    await seen.until(lambda view: b"up" in view.output)
    await seen.say(type="resize", columns=93, rows=17)
    await seen.until(lambda view: b"17 93" in view.output)


async def test_other_views_are_told_the_size_that_one_of_them_decided(view, spawn):
    process_id = await spawn("cat", terminal=True)
    watched, decided = await view(process_id), await view(process_id)
    await watched.until(lambda view: view.sizes() == [(120, 30)])
    await decided.say(type="resize", columns=93, rows=17)
    await watched.until(lambda view: view.sizes() == [(120, 30), (93, 17)])


async def test_message_that_makes_no_sense_is_told_and_the_view_goes_on(view, spawn):
    seen = await view(await spawn("sleep 600"))
    for message in ({"type": "resize", "columns": 0, "rows": 1}, {"type": "nonsense"}):
        await seen.say(**message)
    await seen.until(lambda view: len(view.errors()) == 2)
    assert [told["error"]["type"] for told in seen.errors()] == ["invalid_message", "invalid_message"]
    await seen.say(type="input", text="\x03")
    await seen.until(lambda view: len(view.states()) == 2)
    await seen.say(type="input", text="x")
    await seen.until(lambda view: view.told[-1]["type"] == "error")
    assert seen.told[-1]["error"]["type"] == "process_ended"


async def test_view_that_draws_slowly_misses_output_and_is_told_so(client, spawn):
    process_id = await spawn("read; seq 3000000; echo the end")
    socket = await client.ws_connect(f"/api/modules/shell_tools/terminals/{process_id}")
    seen = View(socket)
    await seen.until(lambda view: view.states())
    await seen.say(type="input", text="\r")
    await client.running.call("bash_output", process_id=process_id, block=True, timeoutMs=60_000)
    await seen.until(lambda view: len(view.states()) == 2)
    assert any(told["type"] == "skipped" for told in seen.told)
    assert seen.output.endswith(b"the end\n")
    assert len(seen.output) < 3_000_000
    await socket.close()


async def test_unknown_process_closes_the_connection_with_the_reason(client):
    socket = await client.ws_connect("/api/modules/shell_tools/terminals/terminal_x_0")
    message = await socket.receive()
    assert message.type is aiohttp.WSMsgType.CLOSE
    assert message.extra == "process_not_found"


async def test_processes_are_listed_for_the_page(client, spawn, config):
    process_id = await spawn("sleep 600")
    answer = await (await client.get("/api/modules/shell_tools/processes")).json()
    (listed,) = answer["processes"]
    assert (listed["processId"], listed["command"], listed["isRunning"]) == (process_id, "sleep 600", True)
    assert answer["isSandboxed"] is (config["config"]["shell_tools"] == {})
    assert answer["sandboxReason"] == ""
    assert answer["putAside"] == []
