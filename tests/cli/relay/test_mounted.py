"""A mounted server, our server or a client that is killed in the middle of calls: nothing runs twice or stays."""

import asyncio
import json
import os
import signal
import sys
import time
import urllib.request
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import pytest

from agentcore.testing.hosting import HostPlan, running_host
from tests.cli.relay.conftest import Client, is_alive, processes_of, server_of
from tests.support.waiting import wait_until_sync

COUNTER = """
import json, sys

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}


def send(ident, **said):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": ident, **said}) + "\\n")
    sys.stdout.flush()


for line in sys.stdin:
    asked = json.loads(line)
    match asked.get("method"):
        case "initialize":
            about = {"capabilities": {"tools": {}}, "serverInfo": {"name": "counter", "version": "1"}}
            send(asked["id"], result={"protocolVersion": "2025-06-18", **about})
        case "tools/list":
            send(asked["id"], result={"tools": [{"name": name, "inputSchema": SCHEMA} for name in ("count", "wait")]})
        case "tools/call":
            with open(asked["params"]["arguments"]["path"], "a") as file:
                file.write("ran ")
            if asked["params"]["name"] == "count":
                send(asked["id"], result={"content": [{"type": "text", "text": "counted"}]})
        case _ if "id" in asked:
            send(asked["id"], error={"code": -32601, "message": "no such method"})
"""

pytestmark = pytest.mark.more


@pytest.fixture
def counter(empty_place):
    """A folder whose app.json mounts a counter, which a person has accepted."""
    pytest.importorskip("agentcore_mcp_servers")
    program = empty_place.folder / "counter.py"
    program.write_text(COUNTER)
    block = {"command": sys.executable, "args": [str(program)], "agentcore": {"sandbox": "off"}}
    app = {"mcpServers": {"counter": block}, "approvals": {"mode": "allow"}}

    async def accept():
        plan = HostPlan(["mcp_counter"], app)
        async with running_host(plan, empty_place.state.parent):
            pass

    asyncio.run(accept())
    empty_place.write_app(modules=["mcp_counter"], **app, clients={"asking": {"mode": "ask"}})
    yield empty_place
    for pid in processes_of(empty_place):
        os.kill(pid, signal.SIGKILL)


@pytest.fixture
def start(counter):
    """Start clients."""
    with ExitStack() as stack:
        yield lambda *arguments, **options: stack.enter_context(closing(Client(counter, *arguments, **options)))


def counters(place):
    """The processes of the mounted server; their environment is their own."""
    program = str(place.folder / "counter.py").encode()
    found = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if program in path.read_bytes().split(b"\0"):
                found.add(int(path.parent.name))
    return {pid for pid in found if is_alive(pid)}


def counted(client, path):
    """Count once the server is there again; how often it was not."""
    for number in range(50, 150):
        text = client.call("counter_count", request_id=number, path=str(path))
        if "counted" in text:
            return
        assert "server_unavailable" in text
        time.sleep(0.1)
    raise AssertionError(text)


def test_a_mounted_server_that_is_killed_ends_its_call_alone_and_comes_back(start, counter, tmp_path):
    client, other = start(), start(name="other")
    client.connect()
    other.connect()
    client.begin("counter_wait", 40, path=str(tmp_path / "mark"))
    wait_until_sync((tmp_path / "mark").exists)
    (first,) = counters(counter)
    os.kill(first, signal.SIGKILL)
    ended = client.answer(40)["result"]
    assert ended["isError"] is True
    assert "server_ended" in ended["content"][0]["text"]
    counted(other, tmp_path / "other")
    counted(client, tmp_path / "again")
    assert [(tmp_path / name).read_text() for name in ("mark", "other", "again")] == ["ran "] * 3
    (second,) = counters(counter)
    assert second != first


def test_of_a_server_that_is_killed_no_mounted_server_stays_and_no_call_runs_again(start, counter, tmp_path):
    client = start()
    client.connect()
    client.begin("counter_wait", 40, path=str(tmp_path / "mark"))
    wait_until_sync((tmp_path / "mark").exists)
    (first,) = counters(counter)
    os.kill(server_of(counter), signal.SIGKILL)
    assert client.answer(40)["result"]["content"][0]["text"].startswith("Error interrupted:")
    counted(client, tmp_path / "again")
    wait_until_sync(lambda: first not in counters(counter))
    assert len(counters(counter)) == 1
    assert [(tmp_path / name).read_text() for name in ("mark", "again")] == ["ran "] * 2
    client.end()
    wait_until_sync(lambda: not counters(counter))


def test_question_of_a_client_that_is_killed_is_withdrawn_and_the_others_are_left_alone(start, counter, tmp_path):
    asking, other = start(name="asking"), start(name="other")
    asking.connect()
    other.connect()
    asking.begin("counter_count", 40, path=str(tmp_path / "mark"))
    wait_until_sync(lambda: waiting(counter) == ["counter_count"])
    asking.process.kill()
    asking.process.wait()
    wait_until_sync(lambda: waiting(counter) == [])  # it ends with the session, and that with the pipe
    counted(other, tmp_path / "other")
    assert not (tmp_path / "mark").exists()
    assert asking_again(start).startswith("Error approval_required:")
    assert not (tmp_path / "mark").exists()


def test_a_call_that_only_waited_for_a_person_when_the_server_was_killed_is_said_not_to_have_run(
    start, counter, tmp_path
):
    client = start(name="asking")
    client.connect()
    client.begin("counter_count", 40, path=str(tmp_path / "mark"))
    wait_until_sync(lambda: waiting(counter) == ["counter_count"])
    client.ask("ping", request_id=41)
    os.kill(server_of(counter), signal.SIGKILL)
    said = client.answer(40)["result"]["content"][0]["text"]
    assert said.startswith("Error interrupted:")
    assert "it has not run: send it again" in said
    assert not (tmp_path / "mark").exists()
    assert not [message for message in client.told if "agentcore/waiting" in message.get("method", "")]


def asking_again(start):
    """What the client hears that comes back, and whose limit is short."""
    client = start("--wait", "1", name="asking")
    client.connect()
    return client.call("counter_count", path="elsewhere")


def waiting(place):
    """The tools of the calls that wait for a person."""
    address = json.loads((place.state / "server.json").read_text())["addresses"]["page"]
    shown = {"Authorization": f"Bearer {(place.state / 'token').read_text().strip()}"}
    with urllib.request.urlopen(urllib.request.Request(f"{address}/api/approvals", headers=shown)) as answer:
        return [each["tool"] for each in json.load(answer)["calls"]]
