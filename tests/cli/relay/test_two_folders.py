"""`agentcore mcp` while modules still start, and beside the server of another folder."""

import json
import os
import signal
import socket
import urllib.request
from contextlib import closing, suppress

import pytest

from tests.cli.conftest import Server, make_place
from tests.cli.relay.conftest import SHOP, Client, is_alive, server_of
from tests.support.waiting import wait_until_sync

SLOW = '''
import asyncio

from agentcore.api import Module, tool


class Slow(Module):
    """Needs a file to start."""

    async def init(self, runtime):
        while not (runtime.workspace.roots[0] / "go").exists():
            await asyncio.sleep(0.05)

    @tool(effects=["session"])
    async def slow_do(self) -> str:
        """Do something."""
        return "done"
'''


def tools_of(client):
    return [tool["name"] for tool in client.ask("tools/list")["result"]["tools"]]


def test_a_module_that_is_slow_to_start_delays_no_other_tools(shop, start):
    shop.add_module("slow", SLOW)
    shop.write_app(modules=["slow", "shop"])
    client = start("--tools-wait", "0.5")
    assert client.connect()["capabilities"]["tools"] == {"listChanged": True}
    while "shop_look" not in (listed := tools_of(client)):
        client.heard("notifications/tools/list_changed")
        client.told.clear()
    assert "slow_do" not in listed
    assert client.call("shop_look", shelf="rice") == "rice: 3"
    client.told.clear()
    next(path for path in (shop.folder / "workspace", shop.folder) if path.is_dir()).joinpath("go").touch()
    client.heard("notifications/tools/list_changed")
    assert "slow_do" in tools_of(client)


@pytest.fixture
def other_shop(tmp_path_factory):
    """A shop in another folder, whose app.json has the port of the running server."""
    place = make_place(tmp_path_factory.mktemp("other"))
    place.add_module("shop", SHOP)
    yield place
    with suppress(ProcessLookupError, TypeError):
        os.kill(server_of(place), signal.SIGKILL)


def test_a_client_in_a_second_folder_gets_a_server_at_a_free_port(shop, other_shop):
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    for place in (shop, other_shop):
        place.write_app(modules=["shop"], server={"port": port})
    with closing(Server(shop)) as first:
        assert first.wait_for("server_ready")["address"] == f"http://127.0.0.1:{port}"
        with closing(Client(other_shop)) as client:
            client.connect()
            assert client.call("shop_look", shelf="tea") == "tea: 3"
            addresses = json.loads((other_shop.state / "server.json").read_text())["addresses"]
            opened = other_shop.run("open", "--print").out
        assert addresses["page"] != f"http://127.0.0.1:{port}"
        assert opened.startswith(addresses["page"] + "/#code=")
        other_shop.environ["AGENTCORE_STATE_DIR"] = str(shop.state.parent / "third")
        refused = other_shop.run("serve")
    assert refused.code == 3
    assert str(shop.folder / "app.json") in refused.err
    assert "agentcore serve --port" in refused.err


def test_a_server_for_clients_stays_while_a_page_is_open(shop, start):
    client = start()
    client.connect()
    server = server_of(shop)
    addresses = json.loads((shop.state / "server.json").read_text())["addresses"]
    token = (shop.state / "token").read_text().strip()
    headers = {"Authorization": f"Bearer {token}", "Accept": "text/event-stream"}
    page = urllib.request.urlopen(urllib.request.Request(f"{addresses['page']}/api/events", headers=headers))
    with closing(page):
        client.end()
        other = start(name="other")  # takes longer to start than a server without clients waits
        other.connect()
        other.end()
        assert server_of(shop) == server
    wait_until_sync(lambda: not is_alive(server))
