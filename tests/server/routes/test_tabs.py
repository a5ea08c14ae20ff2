"""`/api/tabs`: the strip of tabs, which outlives pages and servers."""

import asyncio
import json

import pytest

from agentcore.api import Image, Module, ResourceUse, ToolContext, tool
from agentcore.host import Host, load_config
from agentcore.host.limits import ICON_BYTES
from agentcore.store import StateDir

pytestmark = pytest.mark.spec("R2", "R4")


class Stations(Module):
    """Stations that live on."""

    name = "stations"

    def __init__(self, living: tuple[str, ...] = ()) -> None:
        self.living, self.released = living, []

    async def init(self, runtime) -> None:
        """Open those that were there before."""
        for session in self.living:
            runtime.resources.create("station", session, on_release=self._on_release)

    @tool
    async def open_station(self, ctx: ToolContext) -> str:
        """Open one."""
        made = self.runtime.resources.create("station", ctx.session_id, on_release=self._on_release)
        return made.resource_id

    @tool(resource=ResourceUse("station"))
    async def hold_station(self, ctx: ToolContext) -> None:
        """Use one until it goes."""
        self.is_held.set()
        await asyncio.Event().wait()

    async def _on_release(self, resource) -> None:
        self.released.append(resource.resource_id)


@pytest.fixture
async def stations():
    return Stations()


@pytest.fixture
async def server(make_server, stations):
    return await make_server(stations)


async def open_stations(server, count):
    for _ in range(count):
        await server.call("open_station", session_id="s1")
    return await tabs_of(server)


async def tabs_of(server):
    _, answer = await server.get("/api/tabs")
    return answer["tabs"]


async def change(server, tab, **wanted):
    async with server.client.patch(f"{server.url}/api/tabs/{tab['tabId']}", json=wanted) as response:
        return response.status, await response.json()


async def close(server, tab):
    async with server.client.delete(f"{server.url}/api/tabs/{tab['tabId']}") as response:
        return response.status, await response.json()


def ids(tabs):
    return [tab["resourceId"] for tab in tabs]


async def test_resource_gets_a_tab_that_says_which_it_is_and_how_it_shows(server):
    (tab,) = await open_stations(server, 1)
    assert tab["tabId"].startswith("tab_")
    assert "s1" not in tab["tabId"]
    assert tab["createdAt"] == tab["lastActiveAt"] > 0
    del tab["tabId"], tab["createdAt"], tab["lastActiveAt"]
    assert tab == {"workspaceId": "default", "resourceId": "station_s1_0", "title": None, "pinned": False}


async def test_tabs_are_moved_before_others_and_to_the_end(server):
    first, second, third = await open_stations(server, 3)
    await change(server, third, before=first["tabId"])
    assert ids(await tabs_of(server)) == ids([third, first, second])
    await change(server, third, before="")
    assert ids(await tabs_of(server)) == ids([first, second, third])
    await change(server, second, before=second["tabId"])
    assert ids(await tabs_of(server)) == ids([first, second, third])


async def test_pinned_tabs_stay_before_the_others(server):
    first, second, third = await open_stations(server, 3)
    assert (await change(server, third, pinned=True))[1]["pinned"]
    assert ids(await tabs_of(server)) == ids([third, first, second])
    await change(server, second, pinned=True)
    assert ids(await tabs_of(server)) == ids([third, second, first])
    await change(server, second, before=third["tabId"])
    assert ids(await tabs_of(server)) == ids([second, third, first])
    await change(server, second, before="")
    assert ids(await tabs_of(server)) == ids([third, second, first])
    await change(server, first, before=third["tabId"])
    assert ids(await tabs_of(server)) == ids([third, second, first])
    await change(server, third, pinned=False)
    assert ids(await tabs_of(server)) == ids([second, third, first])


async def test_name_that_a_person_gave_is_kept_until_it_is_taken_back(server):
    (tab,) = await open_stations(server, 1)
    assert (await change(server, tab, title="Weather"))[1]["title"] == "Weather"
    assert (await change(server, tab, pinned=True))[1]["title"] == "Weather"
    assert (await change(server, tab, title=""))[1]["title"] is None
    status, refused = await change(server, tab, title="x" * 81)
    assert (status, refused["error"]["type"]) == (400, "invalid_body")


async def test_closing_a_tab_ends_its_resource(server, stations):
    (tab,) = await open_stations(server, 1)
    assert await close(server, tab) == (200, {"ok": True, "released": True})
    assert stations.released == ["station_s1_0"]
    assert await tabs_of(server) == []
    status, gone = await close(server, tab)
    assert (status, gone["error"]["type"]) == (404, "tab_not_found")


async def test_closing_a_pinned_tab_leaves_its_resource_which_can_be_shown_again(server, stations):
    tab, _ = await open_stations(server, 2)
    await change(server, tab, pinned=True)
    assert await close(server, tab) == (200, {"ok": True, "released": False})
    assert stations.released == []
    _, again = await server.post("/api/tabs", {"resourceId": tab["resourceId"]})
    assert not again["pinned"]
    assert again["tabId"] != tab["tabId"]
    assert ids(await tabs_of(server)) == ["station_s1_1", "station_s1_0"]


async def test_closing_the_tab_of_a_resource_that_keeps_running_leaves_it(server, stations):
    (tab,) = await open_stations(server, 1)
    path = f"{server.url}/api/resources/{tab['resourceId']}"
    async with server.client.patch(path, json={"keepRunning": True}) as response:
        assert (await response.json())["keepRunning"] is True
    assert await close(server, tab) == (200, {"ok": True, "released": False})
    server.host.resources.update(tab["resourceId"], title="goes on, without a tab")
    assert await tabs_of(server) == []
    assert stations.released == []


async def test_call_that_holds_a_resource_ends_with_its_tab(server, stations):
    (tab,) = await open_stations(server, 1)
    stations.is_held = asyncio.Event()
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        holding = group.create_task(server.call("hold_station", session_id="s1"))
        await stations.is_held.wait()
        waiting = group.create_task(server.call("hold_station", session_id="s1"))
        while len(server.host.calls.in_flight) < 2:
            await asyncio.sleep(0)
        await close(server, tab)
        (held,) = server.host.calls.in_flight
        await server.post(f"/api/calls/{held}/cancel")
    assert holding.result()["error"]["type"] == "cancelled"
    assert waiting.result()["error"]["type"] == "resource_not_found"


async def test_tab_of_something_that_does_not_live_is_refused(server):
    status, refused = await server.post("/api/tabs", {"resourceId": "station_s1_7"})
    assert (status, refused["error"]["type"]) == (404, "resource_not_found")
    (tab,) = await open_stations(server, 1)
    status, refused = await change(server, tab, before="tab_nowhere")
    assert (status, refused["error"]["type"]) == (404, "tab_not_found")


async def test_tab_goes_with_its_resource_and_its_module(server):
    await open_stations(server, 2)
    await server.host.resources.release("station_s1_0")
    assert ids(await tabs_of(server)) == ["station_s1_1"]
    await server.host.modules.disable("stations")
    assert await tabs_of(server) == []


async def test_icon_of_a_resource_is_served_as_an_image_that_runs_nothing(server):
    (tab,) = await open_stations(server, 1)
    path = f"/api/resources/{tab['resourceId']}/icon"
    status, missing = await server.get(path)
    assert (status, missing["error"]["type"]) == (404, "icon_not_found")
    server.host.resources.update(tab["resourceId"], icon=Image(b"<svg/>", "image/svg+xml"))
    async with server.client.get(server.url + path) as response:
        assert await response.read() == b"<svg/>"
        assert response.content_type == "image/svg+xml"
        assert response.headers["Content-Security-Policy"].startswith("default-src 'none'")
    for icon in (Image(b"x" * (ICON_BYTES + 1)), Image(b"<p>", "text/html")):
        with pytest.raises(ValueError, match="an icon is an image"):
            server.host.resources.update(tab["resourceId"], icon=icon)


async def test_changes_are_told(server):
    told = []
    server.host.events.subscribe("tabs.changed", told.append)
    (tab,) = await open_stations(server, 1)
    assert len(told) == 1
    await change(server, tab, pinned=True)
    assert len(told) == 2
    before = (await tabs_of(server))[0]["lastActiveAt"]
    _, shown = await server.post("/api/tabs", {"resourceId": tab["resourceId"]})
    assert shown["lastActiveAt"] >= before
    assert len(told) == 2  # what is at the front in one page concerns no other
    await close(server, tab)
    assert len(told) == 3


async def test_order_pins_and_names_outlive_the_server_for_what_is_there_again(tmp_path):
    (tmp_path / "app.json").write_text(json.dumps({"modules": []}))
    environ = {"AGENTCORE_STATE_DIR": str(tmp_path / "state")}
    config = load_config(tmp_path / "app.json", environ)

    async def run(module, work):
        with StateDir.open(config.file, environ=environ) as state:
            async with Host.open(config, state, [module]) as host:
                return await work(host)

    async def arrange(host):
        a, _, c, d = host.tabs.in_order()
        await host.tabs.change(d.tab_id, is_pinned=True)
        await host.tabs.change(c.tab_id, before=a.tab_id, title="Third")
        return [tab.to_json() for tab in host.tabs.in_order()]

    async def look(host):
        return [tab.to_json() for tab in host.tabs.in_order()]

    before = await run(Stations(("a", "b", "c", "d")), arrange)
    assert ids(before) == [f"station_{session}_0" for session in ("d", "c", "a", "b")]
    assert await run(Stations(("a", "b", "c", "d")), look) == before
    assert await run(Stations(("b", "d")), look) == [before[0], before[3]]
    assert await run(Stations(), look) == []
