"""What a restart of the server keeps, however the server ended: tabs, pins, names, addresses and ids of resources."""

import json
import os
import signal
import urllib.request
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.spec("R2", "R4")

STATIONS = '''
from agentcore.api import Module, ResourceUse, ToolContext, ToolResult, tool


class Stations(Module):
    """Stations that have an address."""

    @tool
    async def open_station(self, ctx: ToolContext, url: str = "") -> ToolResult:
        """Open one more."""
        made = self.runtime.resources.create("station", ctx.session_id)
        self._show(made.resource_id, url)
        return ToolResult("open", resource_id=made.resource_id)

    @tool(resource=ResourceUse("station", create=True))
    async def visit(self, ctx: ToolContext) -> dict:
        """Say where the session's station is, and what became of the one before."""
        station = ctx.resource
        before = {"id": station.resource_id, "url": station.last_url, "lostBy": station.lost_by}
        self._show(station.resource_id, station.last_url or "about:blank")
        return before

    def _show(self, resource_id, url):
        again = ("open_station", {"url": url})
        self.runtime.resources.update(resource_id, status="ready", last_url=url, title=f"At {url}", reopening=again)
'''


class Client:
    """Calls a server of a place with its token."""

    def __init__(self, server: Any, state: Path) -> None:
        self._address = server.address
        self._token = (state / "token").read_text().strip()

    def send(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self._address}{path}", data, headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.load(response)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        answer = self.send("POST", f"/api/tools/{tool}/call", {"arguments": arguments, "session_id": "s1"})
        assert answer["ok"], answer
        return answer

    @property
    def tabs(self) -> list[dict[str, Any]]:
        return self.send("GET", "/api/tabs")["tabs"]


@pytest.fixture
def stations(place):
    place.add_module("stations", STATIONS)
    place.write_app(modules=["stations"])
    return place


def end_server(server, number):
    os.kill(server.process.pid, number)
    code = server.process.wait(60)
    assert code == (-signal.SIGKILL if number == signal.SIGKILL else 0)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_tabs_pins_names_and_addresses_are_restored_and_ids_are_not_reused(stations, start_server, number):
    server = start_server()
    client = Client(server, stations.state)
    for url in ("http://a.example/", "http://b.example/", "http://c.example/"):
        client.call("open_station", url=url)
    first, second, third = client.tabs
    client.send("PATCH", f"/api/tabs/{second['tabId']}", {"pinned": True, "title": "Mine"})
    client.send("DELETE", f"/api/tabs/{third['tabId']}")
    before = client.tabs
    assert [tab["resourceId"] for tab in before] == ["station_s1_1", "station_s1_0"]
    end_server(server, number)

    client = Client(start_server(), stations.state)
    after = client.tabs
    closed = [tab.pop("closed") for tab in after]
    assert [tab.pop("closed") for tab in before] == [None, None]
    assert after == before
    assert [each["lastUrl"] for each in closed] == ["http://b.example/", "http://a.example/"]
    visited = client.call("visit")["data"]
    assert visited == {"id": "station_s1_3", "url": "http://a.example/", "lostBy": ""}
    assert [(tab["tabId"], tab["resourceId"], bool(tab["closed"])) for tab in client.tabs] == [
        (second["tabId"], "station_s1_1", True),
        (first["tabId"], "station_s1_3", False),
    ]


@pytest.mark.spec("S7")
def test_database_that_was_damaged_after_an_orderly_stop_is_kept_beside_a_new_one(stations, start_server):
    server = start_server()
    Client(server, stations.state).call("open_station", url="http://a.example/")
    end_server(server, signal.SIGTERM)
    database = stations.state / "state.sqlite3"
    content = bytearray(database.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    database.write_bytes(content)

    server = start_server()
    (told,) = [line for line in server.log if line["event"] == "database_broken"]
    assert Path(told["kept_as"]).read_bytes() == content
    assert "Traceback" not in str(server.log)
    assert Client(server, stations.state).tabs == []
    end_server(server, signal.SIGTERM)


def test_ids_of_what_lived_between_two_kills_are_not_reused(stations, start_server):
    for number in range(3):
        server = start_server()
        client = Client(server, stations.state)
        made = client.call("open_station")["resourceId"]
        assert made == f"station_s1_{number}"
        client.send("DELETE", f"/api/tabs/{client.tabs[-1]['tabId']}")
        end_server(server, signal.SIGKILL)
