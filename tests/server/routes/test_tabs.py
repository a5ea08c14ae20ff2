"""`/api/tabs`: the strip of tabs, which outlives pages and servers."""

import asyncio
import json
from dataclasses import replace

import pytest

from agentcore.api import Image, Module, Resource, ResourceUse, ToolContext, ToolResult, tool
from agentcore.api.resource import ResourceUpdate
from agentcore.api.tool_context import Principal
from agentcore.core.approvals.approval_queue import Verdict
from agentcore.core.calls.call import CallRequest
from agentcore.core.core import Core
from agentcore.core.discovery.families import load_config
from agentcore.errors import ToolError
from agentcore.limits import CLOSED_TABS, ICON_BYTES, REOPENING_BYTES
from agentcore.store.state.state_dir import StateDir
from agentcore.testing.hosting import PERSON

pytestmark = pytest.mark.spec("R2", "R4")


class Stations(Module):
    """Stations that live on."""

    name = "stations"

    def __init__(self, living: tuple[str, ...] = (), *, opens_again: bool = False) -> None:
        self.living, self.opens_again, self.released = living, opens_again, []

    async def init(self, runtime) -> None:
        """Open those that were there before."""
        for session in self.living:
            self._make(session)

    @tool
    async def open_station(self, ctx: ToolContext, url: str = "") -> ToolResult:
        """Open one."""
        made = self._make(ctx.session_id, url)
        return ToolResult("open", resource_id=made.resource_id)

    def _make(self, session_id: str, url: str = ""):
        made = self.runtime.resources.create("station", session_id, on_release=self._on_release)
        if self.opens_again:
            again = ("open_station", {"url": url})
            update = self.runtime.resources.update
            update(made.resource_id, last_url=url, title=f"At {url}", icon=Image(b"<svg/>", "image/svg+xml"))
            update(made.resource_id, reopening=again)
        return made

    @tool(resource=ResourceUse("station"))
    async def hold_station(self, ctx: ToolContext) -> None:
        """Use one until it goes."""
        self.is_held.set()
        await asyncio.Event().wait()

    @tool(resource=ResourceUse("station", create=True))
    async def visit_station(self, ctx: ToolContext) -> ToolResult:
        """Look where the session's one is."""
        at = ctx.resource
        self.runtime.resources.adopt(at.resource_id, self._on_release)
        self.runtime.resources.update(at.resource_id, status="ready", reopening=("open_station", {}))
        return ToolResult(at.resource_id, [at.last_url, at.lost_by])

    @tool(resource=ResourceUse("station", create=True))
    async def fail_station(self, ctx: ToolContext) -> None:
        """Fail before there is one."""
        raise ToolError("broken", "it broke")

    async def _on_release(self, resource) -> None:
        self.released.append(resource.resource_id)


@pytest.fixture
def stations():
    return Stations()


SERVER = {"modules": ["stations"]}


async def open_stations(bare_server, count):
    for _ in range(count):
        await bare_server.call("open_station", session_id="s1")
    return await tabs_of(bare_server)


async def tabs_of(bare_server):
    _, answer = await bare_server.get("/api/tabs")
    return answer["tabs"]


async def change(bare_server, tab, **wanted):
    async with bare_server.client.patch(f"{bare_server.url}/api/tabs/{tab['tabId']}", json=wanted) as response:
        return response.status, await response.json()


async def close(bare_server, tab):
    async with bare_server.client.delete(f"{bare_server.url}/api/tabs/{tab['tabId']}") as response:
        return response.status, await response.json()


def ids(tabs):
    return [tab["resourceId"] for tab in tabs]


async def test_resource_gets_a_tab_that_says_which_it_is_and_how_it_shows(bare_server):
    (tab,) = await open_stations(bare_server, 1)
    assert tab["tabId"].startswith("tab_")
    assert "s1" not in tab["tabId"]
    assert tab["createdAt"] == tab["lastActiveAt"] > 0
    del tab["tabId"], tab["createdAt"], tab["lastActiveAt"]
    assert tab == {
        "workspaceId": "default",
        "resourceId": "station_s1_0",
        "title": None,
        "pinned": False,
        "closed": None,
    }


async def test_tabs_are_moved_before_others_and_to_the_end(bare_server):
    first, second, third = await open_stations(bare_server, 3)
    await change(bare_server, third, before=first["tabId"])
    assert ids(await tabs_of(bare_server)) == ids([third, first, second])
    await change(bare_server, third, before="")
    assert ids(await tabs_of(bare_server)) == ids([first, second, third])
    await change(bare_server, second, before=second["tabId"])
    assert ids(await tabs_of(bare_server)) == ids([first, second, third])


async def test_pinned_tabs_stay_before_the_others(bare_server):
    first, second, third = await open_stations(bare_server, 3)
    assert (await change(bare_server, third, pinned=True))[1]["pinned"]
    assert ids(await tabs_of(bare_server)) == ids([third, first, second])
    await change(bare_server, second, pinned=True)
    assert ids(await tabs_of(bare_server)) == ids([third, second, first])
    await change(bare_server, second, before=third["tabId"])
    assert ids(await tabs_of(bare_server)) == ids([second, third, first])
    await change(bare_server, second, before="")
    assert ids(await tabs_of(bare_server)) == ids([third, second, first])
    await change(bare_server, first, before=third["tabId"])
    assert ids(await tabs_of(bare_server)) == ids([third, second, first])
    await change(bare_server, third, pinned=False)
    assert ids(await tabs_of(bare_server)) == ids([second, third, first])


async def test_name_that_a_person_gave_is_kept_until_it_is_taken_back(bare_server):
    (tab,) = await open_stations(bare_server, 1)
    assert (await change(bare_server, tab, title="Weather"))[1]["title"] == "Weather"
    assert (await change(bare_server, tab, pinned=True))[1]["title"] == "Weather"
    assert (await change(bare_server, tab, title=""))[1]["title"] is None
    status, refused = await change(bare_server, tab, title="x" * 81)
    assert (status, refused["error"]["type"]) == (400, "invalid_body")


async def test_closing_a_tab_ends_its_resource(bare_server, stations):
    (tab,) = await open_stations(bare_server, 1)
    assert await close(bare_server, tab) == (200, {"ok": True, "released": True})
    assert stations.released == ["station_s1_0"]
    assert await tabs_of(bare_server) == []
    status, gone = await close(bare_server, tab)
    assert (status, gone["error"]["type"]) == (404, "tab_not_found")


async def test_closing_a_pinned_tab_leaves_its_resource_which_can_be_shown_again(bare_server, stations):
    tab, _ = await open_stations(bare_server, 2)
    await change(bare_server, tab, pinned=True)
    assert await close(bare_server, tab) == (200, {"ok": True, "released": False})
    assert stations.released == []
    _, again = await bare_server.post("/api/tabs", {"resourceId": tab["resourceId"]})
    assert not again["pinned"]
    assert again["tabId"] != tab["tabId"]
    assert ids(await tabs_of(bare_server)) == ["station_s1_1", "station_s1_0"]


async def test_closing_the_tab_of_a_resource_that_keeps_running_leaves_it(bare_server, stations):
    (tab,) = await open_stations(bare_server, 1)
    path = f"{bare_server.url}/api/resources/{tab['resourceId']}"
    async with bare_server.client.patch(path, json={"keepRunning": True}) as response:
        assert (await response.json())["keepRunning"] is True
    assert await close(bare_server, tab) == (200, {"ok": True, "released": False})
    bare_server.host.resources.update(tab["resourceId"], ResourceUpdate(title="goes on, without a tab"))
    assert await tabs_of(bare_server) == []
    assert stations.released == []


async def test_call_that_holds_a_resource_ends_with_its_tab(bare_server, stations):
    (tab,) = await open_stations(bare_server, 1)
    stations.is_held = asyncio.Event()
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        holding = group.create_task(bare_server.call("hold_station", session_id="s1"))
        await stations.is_held.wait()
        waiting = group.create_task(bare_server.call("hold_station", session_id="s1"))
        while len(bare_server.host.calls.in_flight) < 2:
            await asyncio.sleep(0)
        await close(bare_server, tab)
        (held,) = bare_server.host.calls.in_flight
        await bare_server.post(f"/api/calls/{held}/cancel")
    assert holding.result()["error"]["type"] == "cancelled"
    assert waiting.result()["error"]["type"] == "resource_not_found"


async def test_tab_of_something_that_does_not_live_is_refused(bare_server):
    status, refused = await bare_server.post("/api/tabs", {"resourceId": "station_s1_7"})
    assert (status, refused["error"]["type"]) == (404, "resource_not_found")
    (tab,) = await open_stations(bare_server, 1)
    status, refused = await change(bare_server, tab, before="tab_nowhere")
    assert (status, refused["error"]["type"]) == (404, "tab_not_found")


async def test_tab_goes_with_its_resource_and_its_module(bare_server):
    await open_stations(bare_server, 2)
    await bare_server.host.resources.release("station_s1_0")
    assert ids(await tabs_of(bare_server)) == ["station_s1_1"]
    await bare_server.host.modules.disable("stations")
    assert await tabs_of(bare_server) == []


async def test_icon_of_a_resource_is_served_as_an_image_that_runs_nothing(bare_server):
    (tab,) = await open_stations(bare_server, 1)
    path = f"/api/resources/{tab['resourceId']}/icon"
    status, missing = await bare_server.get(path)
    assert (status, missing["error"]["type"]) == (404, "icon_not_found")
    bare_server.host.resources.update(tab["resourceId"], ResourceUpdate(icon=Image(b"<svg/>", "image/svg+xml")))
    async with bare_server.client.get(bare_server.url + path) as response:
        assert await response.read() == b"<svg/>"
        assert response.content_type == "image/svg+xml"
        assert response.headers["Content-Security-Policy"].startswith("default-src 'none'")
    (resource,) = (await bare_server.get("/api/resources"))[1]["resources"]
    status, other = await bare_server.get(f"{path}?v=0123456789abcdef")
    assert (status, other["error"]["type"]) == (404, "icon_not_found")
    for version, caching in ((resource["icon"], "private, max-age=604800, immutable"), ("", "no-store")):
        async with bare_server.client.get(f"{bare_server.url}{path}?v={version}") as response:
            assert await response.read() == b"<svg/>"
            assert response.headers["Cache-Control"] == caching
    for icon in (Image(b"x" * (ICON_BYTES + 1)), Image(b"<p>", "text/html")):
        with pytest.raises(ValueError, match="an icon is an image"):
            bare_server.host.resources.update(tab["resourceId"], ResourceUpdate(icon=icon))


async def test_changes_are_told(bare_server):
    told = []
    bare_server.host.events.subscribe("tabs.changed", told.append)
    (tab,) = await open_stations(bare_server, 1)
    assert len(told) == 1
    await change(bare_server, tab, pinned=True)
    assert len(told) == 2
    before = (await tabs_of(bare_server))[0]["lastActiveAt"]
    _, shown = await bare_server.post("/api/tabs", {"resourceId": tab["resourceId"]})
    assert shown["lastActiveAt"] >= before
    assert len(told) == 2  # what is at the front in one page concerns no other
    await close(bare_server, tab)
    assert len(told) == 3


@pytest.fixture
def run(tmp_path):
    """Run a host in one folder, with a module, for as long as some work takes."""
    (tmp_path / "app.json").write_text(json.dumps({"modules": []}))
    environ = {"AGENTCORE_STATE_DIR": str(tmp_path / "state")}
    config = load_config(tmp_path / "app.json", environ)

    async def run_one(module, work):
        with StateDir.open(config.file, environ=environ) as state:
            async with Core.open(config, state, [module]) as core:
                return await work(core)

    return run_one


def strip(host):
    return [tab.to_json() for tab in host.tabs.list_tabs()]


async def open_at(host, *urls, session_id="s1"):
    for url in urls:
        await host.run_call(CallRequest("open_station", {"url": url}, PERSON, session_id=session_id))
    return strip(host)


async def test_resource_that_ended_with_the_server_comes_back_closed_with_all_that_opens_it_again(run):
    async def begin(host):
        await open_at(host, "https://a.example/", "https://b.example/")
        await host.tabs.change_tab(host.tabs.list_tabs()[1].tab_id, is_pinned=True, title="Mine")
        return strip(host)

    async def look(host):
        tab = host.tabs.list_tabs()[1]
        assert host.tabs.find_icon(tab.tab_id) == Image(b"<svg/>", "image/svg+xml")
        return strip(host)

    async def open_again(host):
        first, second = strip(host)
        closed = second["closed"]
        request = CallRequest(closed["tool"], closed["arguments"], PERSON, session_id=closed["chatSessionId"])
        made = (await host.run_call(request)).resource_id
        assert made == "station_s1_2"  # ids are not given twice: the first two are closed still
        await host.tabs.show_resource(made, in_place_of=second["tabId"])
        with pytest.raises(ToolError) as caught:
            await host.tabs.show_resource(made, in_place_of=second["tabId"])
        assert caught.value.type == "tab_not_closed"
        return first, strip(host)

    before = await run(Stations(opens_again=True), begin)
    closed = await run(Stations(opens_again=True), look)
    assert [tab.pop("closed") for tab in before] == [None, None]
    states = [tab.pop("closed") for tab in closed]
    assert closed == before  # order, pin and name
    assert [state["lastUrl"] for state in states] == ["https://b.example/", "https://a.example/"]
    assert states[0]["icon"]
    assert (states[1]["tool"], states[1]["arguments"]) == ("open_station", {"url": "https://a.example/"})

    first, after = await run(Stations(opens_again=True), open_again)
    assert [tab["closed"] is None for tab in after] == [False, True]
    assert after[0] == first
    assert (after[1]["tabId"], after[1]["resourceId"]) == (before[1]["tabId"], "station_s1_2")


async def test_closed_tabs_are_bounded_closed_for_good_and_go_with_their_session(run):
    async def begin(host):
        return await open_at(host, *(f"https://{n}.example/" for n in range(CLOSED_TABS + 3)))

    async def close_one(host):
        tabs = host.tabs.list_tabs()
        assert len(tabs) == CLOSED_TABS
        assert await host.tabs.close_tab(tabs[0].tab_id)
        assert len(host.tabs.list_tabs()) == CLOSED_TABS - 1

    async def forget(host):
        assert len(host.tabs.list_tabs()) == CLOSED_TABS - 1
        await host.tabs.end_session("s1")
        return strip(host)

    await run(Stations(opens_again=True), begin)
    await run(Stations(opens_again=True), close_one)
    assert await run(Stations(opens_again=True), forget) == []
    assert await run(Stations(opens_again=True), open_at) == []


async def test_call_that_opens_a_resource_again_is_bounded_json_and_can_be_taken_away(bare_server):
    await open_stations(bare_server, 1)
    update = bare_server.host.resources.update
    with pytest.raises(ValueError, match="are the bound"):
        update("station_s1_0", ResourceUpdate(reopening=("open_station", {"url": "x" * REOPENING_BYTES})))
    update("station_s1_0", ResourceUpdate(reopening=("open_station", {"url": "x"})))
    assert bare_server.host.resources.get("station_s1_0").reopening == ("open_station", {"url": "x"})
    update("station_s1_0", ResourceUpdate(reopening=("", {})))
    assert bare_server.host.resources.get("station_s1_0").reopening is None


async def test_order_pins_and_names_outlive_the_server_for_what_is_there_again(run):
    async def arrange(host):
        a, _, c, d = host.tabs.list_tabs()
        await host.tabs.change_tab(d.tab_id, is_pinned=True)
        await host.tabs.change_tab(c.tab_id, before=a.tab_id, title="Third")
        return [tab.to_json() for tab in host.tabs.list_tabs()]

    async def come_back(host):
        """As they do on a host that went on without the server."""
        for session in ("a", "b", "c", "d"):
            host.resources.admit_resource("stations", Resource(f"station_{session}_0", "station", session, 0))
        return [tab.to_json() for tab in host.tabs.list_tabs()]

    before = await run(Stations(("a", "b", "c", "d"), opens_again=True), arrange)
    assert ids(before) == [f"station_{session}_0" for session in ("d", "c", "a", "b")]
    assert await run(Stations(opens_again=True), come_back) == before


MODEL = Principal("mcp", "s1")
VISIT = CallRequest("visit_station", {}, MODEL, session_id="s1")


async def test_call_that_waited_for_a_resource_that_ended_with_the_server_is_refused(run):
    """It does not run on the one that is opened in the place of that, nor does anybody go on being asked about it."""

    async def begin(host):
        await open_at(host, "https://a.example/")
        waiting = await host.run_call(VISIT)
        assert (waiting.error.type, waiting.resource_id) == ("approval_required", "station_s1_0")
        return waiting.call_id

    async def approve(host):
        await host.approvals.decide_call(call_id, Verdict(approved=True, by="test"))
        refused = await host.run_call(replace(VISIT, call_id=call_id))
        assert (refused.error.type, refused.error.context) == ("resource_not_found", {"resource_id": "station_s1_0"})
        assert host.approvals.find_pending(call_id) is None
        assert host.resources.list() == []
        assert (await host.run_call(replace(VISIT, principal=PERSON))).result.blocks()[0].text == "station_s1_1"

    call_id = await run(Stations(opens_again=True), begin)
    await run(Stations(opens_again=True), approve)


async def test_call_that_waited_for_a_resource_that_was_yet_to_be_made_runs_after_a_restart(run):
    async def begin(host):
        waiting = await host.run_call(VISIT)
        assert (waiting.error.type, waiting.resource_id) == ("approval_required", "station_s1_0")
        return waiting.call_id

    async def approve(host):
        await host.approvals.decide_call(call_id, Verdict(approved=True, by="test"))
        ran = await host.run_call(replace(VISIT, call_id=call_id))
        assert (ran.ok, ran.resource_id) == (True, "station_s1_0")

    call_id = await run(Stations(), begin)
    await run(Stations(), approve)


async def test_resource_that_ends_with_its_module_keeps_its_tab_which_the_next_one_takes(bare_server, stations):
    """For a module that is reloaded as for one that is stopped: address, pin, name and what became of it."""
    stations.opens_again = True
    await bare_server.call("open_station", {"url": "https://a.example/"}, session_id="s1")
    (tab,) = await tabs_of(bare_server)
    await change(bare_server, tab, pinned=True, title="Mine")
    await bare_server.host.modules.disable("stations")
    (closed,) = await tabs_of(bare_server)
    assert closed["closed"]["lastUrl"] == "https://a.example/"
    assert closed["closed"]["lostBy"] == "module 'stations' was stopped"
    await bare_server.host.modules.enable("stations")
    visited = await bare_server.call("visit_station", session_id="s1")
    assert visited["data"] == ["https://a.example/", "module 'stations' was stopped"]
    (taken,) = await tabs_of(bare_server)
    assert taken == tab | {"resourceId": "station_s1_1", "pinned": True, "title": "Mine"}


async def test_tab_stays_closed_where_what_was_to_take_it_comes_to_nothing(bare_server, stations):
    stations.opens_again = True
    await bare_server.call("open_station", {"url": "https://a.example/"}, session_id="s1")
    await bare_server.host.modules.disable("stations")
    before = await tabs_of(bare_server)
    await bare_server.host.modules.enable("stations")
    failed = await bare_server.call("fail_station", session_id="s1")
    assert failed["error"]["type"] == "broken"
    assert await tabs_of(bare_server) == before
    assert before[0]["closed"]


async def test_id_is_not_given_to_another_resource_after_a_restart(run):
    async def begin(host):
        await open_at(host, "https://a.example/")
        await host.tabs.close_tab(host.tabs.list_tabs()[0].tab_id)  # nothing but the count says that it was there

    async def begin_again(host):
        return ids(await open_at(host, "https://b.example/"))

    await run(Stations(), begin)
    assert await run(Stations(), begin_again) == ["station_s1_1"]
    assert await run(Stations(), begin_again) == ["station_s1_2"]
