"""`agentcore mcp`: clients on pipes, with real processes, one server, and what happens when one of them is killed."""

import os
import signal
import stat
import subprocess
import sys

import pytest

from agentcore.store.state.state_dir import find_running_server
from tests.cli.conftest import LIMIT_S
from tests.cli.relay.conftest import is_alive, server_of
from tests.support.waiting import wait_until_sync


def test_a_client_gets_the_tools_of_a_server_that_is_started_for_it(start, shop):
    client = start()
    assert client.connect()["serverInfo"]["name"] == "agentcore"
    assert [tool["name"] for tool in client.ask("tools/list")["result"]["tools"]] == [
        "shop_look",
        "shop_wait",
        "shop_open",
    ]
    assert client.call("shop_look", shelf="rice") == "rice: 3"
    key = shop.state / "clients" / "robot"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert key.read_text().strip() not in " ".join(client.process.args)


@pytest.mark.more
def test_two_clients_share_one_server_which_ends_after_the_last_one(start, shop):
    first, second = start(), start(name="other")
    first.connect()
    second.connect()
    server = server_of(shop)
    assert second.call("shop_look", shelf="rice") == "rice: 3"
    first.end()
    assert second.call("shop_look", shelf="tea") == "tea: 3"
    assert server_of(shop) == server
    second.end()
    wait_until_sync(lambda: not is_alive(server))


def test_a_server_that_somebody_else_started_is_used_and_stays(visit, open_shop):
    server = server_of(open_shop)
    for _ in range(2):
        client = visit()
        client.connect()
        client.end()
    assert server_of(open_shop) == server
    assert is_alive(server)


@pytest.mark.more
def test_when_the_server_is_killed_calls_end_as_interrupted_and_another_one_takes_over(start, shop, tmp_path):
    clients = [start(name=name) for name in ("one", "two", "three")]
    for client in clients:
        client.connect()
    mark = tmp_path / "mark"
    clients[0].begin("shop_wait", 40, path=str(mark))
    wait_until_sync(mark.exists)
    first = server_of(shop)
    os.kill(first, signal.SIGKILL)
    ended = clients[0].answer(40)["result"]
    assert ended["isError"] is True
    assert ended["content"][0]["text"].startswith("Error interrupted:")
    for client in clients:
        assert client.call("shop_look", request_id=41, shelf="rice") == "rice: 3"
    assert server_of(shop) != first
    assert mark.read_text() == "begun "


def test_a_client_that_is_killed_leaves_nothing_behind(start, shop, tmp_path):
    client = start()
    client.connect()
    client.begin("shop_wait", 40, path=str(tmp_path / "mark"))
    wait_until_sync((tmp_path / "mark").exists)
    server = server_of(shop)
    client.process.kill()
    wait_until_sync(lambda: not is_alive(server))


@pytest.mark.more
def test_a_client_that_leaves_before_a_server_is_there_ends_its_relay_and_the_server(start, shop):
    stuck = """
import asyncio

from agentcore.api import Module


class Stuck(Module):
    \'\'\'Takes its time.\'\'\'

    async def init(self, runtime):
        (runtime.workspace.roots[0] / "begun").touch()
        await asyncio.sleep(20)
"""
    shop.add_module("stuck", stuck)
    shop.write_app(modules=["stuck", "shop"])
    client = start()
    client.write({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}})
    wait_until_sync(lambda: list(shop.folder.rglob("begun")), limit_s=LIMIT_S)
    server = server_of(shop)
    client.end()
    wait_until_sync(lambda: not is_alive(server))


@pytest.mark.more
def test_the_relay_ends_when_who_started_it_is_gone(shop, tmp_path):
    program = (
        "import os, subprocess, sys\n"
        "reading, writing = os.pipe()\n"
        "command = [sys.executable, '-m', 'agentcore', 'mcp', '--client', 'robot']\n"
        "relay = subprocess.Popen(command, stdin=reading)\n"
        "print(relay.pid, flush=True)\n"
        "sys.stdin.read()\n"
    )
    options = shop.options()
    options.pop("python")
    # the test holds the relay's stdin open, so that only the death of its parent can end it
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options
    ) as parent:
        relay = int(parent.stdout.readline())
        wait_until_sync(lambda: server_of(shop) is not None, limit_s=LIMIT_S)
        held = os.open(f"/proc/{relay}/fd/0", os.O_RDWR)
        parent.kill()
        parent.wait()
        wait_until_sync(lambda: not is_alive(relay))
        os.close(held)


def test_a_client_whose_key_is_revoked_is_told_and_stays_out(visit, open_shop):
    client = visit(name="revoked")
    client.connect()
    assert open_shop.run("approvers", "revoke", "revoked").code == 0
    refused = client.ask("tools/list", request_id=50)["error"]
    assert refused["data"] == {"type": "unauthorized"}
    assert "revoked" in refused["message"]
    assert client.ask("tools/list", request_id=51)["error"]["data"] == {"type": "unauthorized"}
    again = visit(name="revoked")
    assert again.ask("initialize", {}, 1)["error"]["data"] == {"type": "unauthorized"}


@pytest.mark.more
@pytest.mark.parametrize("has_server", [True, False], ids=["with a server", "without"])
def test_a_client_whose_key_was_revoked_is_let_in_again_once_it_is_connected_anew(start, shop, has_server):
    assert shop.run("connect", "cursor", "--yes").code == 0
    first = start(name="cursor")
    first.connect()
    assert "already" in shop.run("connect", "cursor", "--yes").out
    assert first.call("shop_look", shelf="rice") == "rice: 3"
    assert shop.run("approvers", "revoke", "cursor").code == 0
    assert start(name="cursor").ask("initialize", {}, 1)["error"]["data"] == {"type": "unauthorized"}
    if has_server:
        start(name="other").connect()
    else:
        os.kill(server_of(shop), signal.SIGKILL)
        wait_until_sync(lambda: find_running_server(shop.state) is None)
    connected = shop.run("connect", "cursor", "--yes")
    assert connected.code == 0, connected.err
    assert "receives a new key" in connected.err
    again = start(name="cursor")
    again.connect()
    assert again.call("shop_look", shelf="rice") == "rice: 3"


def test_a_request_with_an_id_that_is_in_use_is_refused(visit, tmp_path):
    client = visit()
    client.connect()
    client.begin("shop_wait", 40, path=str(tmp_path / "mark"))
    wait_until_sync((tmp_path / "mark").exists)
    client.begin("shop_look", 40, shelf="rice")
    assert client.answer(40)["error"]["code"] == -32600
    assert (tmp_path / "mark").read_text() == "begun "


def test_unknown_methods_and_versions_are_told_as_such(visit):
    client = visit()
    about = {"protocolVersion": "1999-01-01", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    assert client.ask("initialize", about, 1)["result"]["protocolVersion"] == "2025-11-25"
    client.write({"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert client.ask("tools/destroy")["error"]["code"] == -32601


def test_the_newest_revision_needs_no_handshake(visit):
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    client = visit()
    answer = client.ask("tools/call", {"name": "shop_look", "arguments": {"shelf": "rice"}, "_meta": meta})
    assert answer["result"]["content"][0]["text"] == "rice: 3"


@pytest.mark.more
def test_a_client_is_told_what_it_has_asked_to_be_told(start, shop):
    """Also by the server that takes over."""
    client = start()
    client.connect()
    assert client.ask("logging/setLevel", {"level": "info"})["result"] == {}
    assert client.ask("resources/subscribe", {"uri": "shop://sign"})["result"] == {}
    wait_until_sync(lambda: server_of(shop) is not None, limit_s=LIMIT_S)
    for _ in range(2):
        client.told.clear()
        assert client.call("shop_open") == "open"
        assert {"level": "info", "logger": "shop_open", "data": "the door is open"} in [
            each["params"] for each in client.told
        ]
        assert client.heard("notifications/resources/updated")["params"] == {"uri": "shop://sign"}
        killed = server_of(shop)
        os.kill(killed, signal.SIGKILL)
        wait_until_sync(lambda killed=killed: server_of(shop) not in (None, killed), limit_s=LIMIT_S)


def test_a_client_asks_for_fewer_tools(visit):
    client = visit("--tools", "shop_look")
    client.connect()
    assert [tool["name"] for tool in client.ask("tools/list")["result"]["tools"]] == ["shop_look"]


@pytest.mark.more
def test_a_server_that_cannot_be_started_is_the_reason(start, shop):
    shop.write_app(modules=[7])
    client = start()
    client.write({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}})
    assert client.process.wait(LIMIT_S) == 3
    assert "no server can be started" in client.process.stderr.read().decode()


@pytest.mark.parametrize("arguments", [("--client", "../x"), ("--client", ""), ()])
def test_a_name_that_is_none_is_refused(shop, arguments):
    assert shop.run("mcp", *arguments).code == 2


@pytest.mark.more
def test_one_client_that_starts_four_times_at_once_is_one_client(start):
    clients = [start() for _ in range(4)]
    for client in clients:
        assert client.connect()["serverInfo"]["name"] == "agentcore"
    for client in clients:
        assert client.call("shop_look", shelf="rice") == "rice: 3"


def test_a_client_of_a_name_that_is_taken_is_told_what_to_do(visit, open_shop):
    first = visit(name="taken")
    first.connect()
    (open_shop.state / "clients" / "taken").unlink()
    refused = visit(name="taken").ask("initialize", {}, 1)["error"]
    assert refused["data"] == {"type": "client_exists"}
    assert "agentcore approvers revoke taken" in refused["message"]


@pytest.mark.more
def test_what_a_client_has_cancelled_gets_no_answer_when_the_server_ends(start, shop, tmp_path):
    client = start()
    client.connect()
    client.begin("shop_wait", 40, path=str(tmp_path / "one"))
    client.begin("shop_wait", 41, path=str(tmp_path / "two"))
    wait_until_sync((tmp_path / "two").exists)
    client.write({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 40}})
    client.ask("ping", request_id=42)
    os.kill(server_of(shop), signal.SIGKILL)
    assert "interrupted" in client.answer(41)["result"]["content"][0]["text"]
    assert client.call("shop_look", request_id=43, shelf="rice") == "rice: 3"
    assert not [message for message in client.told if message.get("id") == 40]


@pytest.mark.more
def test_a_call_whose_id_was_used_again_is_told_as_interrupted_too(start, shop, tmp_path):
    client = start()
    client.connect()
    client.begin("shop_wait", 40, path=str(tmp_path / "mark"))
    wait_until_sync((tmp_path / "mark").exists)
    client.begin("shop_look", 40, shelf="rice")
    assert client.answer(40)["error"]["code"] == -32600
    os.kill(server_of(shop), signal.SIGKILL)
    assert "interrupted" in client.answer(40)["result"]["content"][0]["text"]


@pytest.mark.parametrize(
    ("first", "last"), [('"jsonrpc": "2.0", "id": 9, ', ""), ("", ', "jsonrpc": "2.0", "id": 9')], ids=["first", "last"]
)
def test_a_message_that_is_too_long_is_refused_under_its_own_id(visit, first, last):
    client = visit()
    client.connect()
    params = '"method": "tools/call", "params": {"name": "' + "x" * 17_000_000 + '"}'
    client.write(f"{{{first}{params}{last}}}\n".encode())
    refused = client.answer(9)["error"]
    assert refused["code"] == -32700
    assert "16,777,216" in refused["message"]
    assert client.call("shop_look", shelf="rice") == "rice: 3"
