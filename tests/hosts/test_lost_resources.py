"""A resource that ends with its host keeps its tab, its last address and the reason, of every kind of host."""

import asyncio
import os
import signal

import pytest

from tests.hosts.two_machines import WAIT_S, Place, dialling, paired, serving

pytestmark = pytest.mark.spec("H2", "H3", "R4")

STATIONS = '''
import os
from agentcore.api import Module, ResourceUse, ToolContext, tool


class Stations(Module):
    """Stations that have an address."""

    @tool(resource=ResourceUse("station", create=True))
    async def visit(self, ctx: ToolContext, url: str = "") -> dict:
        """Go to an address, if one is given, and say where the station was before."""
        at = ctx.resource
        before = {"id": at.resource_id, "url": at.last_url, "lostBy": at.lost_by, "pid": os.getpid()}
        self.runtime.resources.adopt(at.resource_id, self._end)
        url = url or at.last_url or "about:blank"
        self.runtime.resources.update(
            at.resource_id, status="ready", last_url=url, title=f"At {url}", reopening=("visit", {"url": url})
        )
        return before

    async def _end(self, resource) -> None:
        pass
'''
URL = "http://a.example/"


def place(folder, **app):
    made = Place(folder, approvals={"mode": "allow"}, **app)
    made.add_module("stations", STATIONS)
    return made


async def the_tab(server, *, is_closed):
    """The one tab that there is, once it is closed or open."""
    async with asyncio.timeout(WAIT_S):
        while True:
            (tab,) = (await server.get("/api/tabs"))["tabs"]
            if bool(tab["closed"]) is is_closed:
                return tab
            await asyncio.sleep(0.05)


async def visit_again(server, **where):
    """Visit once the module is there again."""
    async with asyncio.timeout(WAIT_S):
        while not (answer := await server.call("visit", **where))["ok"]:
            assert answer["error"]["type"] in ("host_away", "module_stopping", "unknown_tool"), answer
            await asyncio.sleep(0.1)
    return answer["data"]


@pytest.mark.more
async def test_process_host_that_dies_leaves_the_tab_with_the_address_to_the_next_one(tmp_path):
    home = place(tmp_path, modules=["stations"], hosts={"own": {"kind": "process", "modules": ["stations"]}})
    async with serving(home) as server:
        first = (await server.call("visit", url=URL))["data"]
        opened = await the_tab(server, is_closed=False)
        os.kill(first["pid"], signal.SIGKILL)
        closed = await the_tab(server, is_closed=True)
        assert (closed["tabId"], closed["closed"]["lastUrl"]) == (opened["tabId"], URL)
        assert "SIGKILL" in closed["closed"]["lostBy"]
        second = await visit_again(server)
        assert second["pid"] != first["pid"]
        assert (second["id"], second["url"]) == ("station_s0_1", URL)
        assert second["lostBy"] == closed["closed"]["lostBy"]
        taken = await the_tab(server, is_closed=False)
        assert (taken["tabId"], taken["resourceId"]) == (opened["tabId"], "station_s0_1")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
async def test_other_machine_whose_program_ends_leaves_the_tab_with_the_address_to_the_next_one(tmp_path, number):
    home, laptop = place(tmp_path / "server", modules=["stations"]), place(tmp_path / "laptop", modules=["stations"])
    async with serving(home) as server:
        async with paired(server, laptop, "laptop") as worker:
            assert (await server.call("visit", url=URL, host="laptop"))["ok"]
            opened = await the_tab(server, is_closed=False)
            worker.send(number)
            await worker.process.wait()
            await server.host_is("laptop", "away")
        async with dialling(laptop, server.address, "laptop"):
            closed = await the_tab(server, is_closed=True)
            assert (closed["tabId"], closed["closed"]["lastUrl"]) == (opened["tabId"], URL)
            assert closed["closed"]["lostBy"] == "its host 'laptop' was lost"
            await server.host_is("laptop", "running")
            # what is opened on the server is in nobody's place
            here = await server.call("visit")
            assert (here["data"]["url"], here["data"]["lostBy"]) == (None, "")
            again = await visit_again(server, host="laptop")
            assert (again["id"], again["url"]) == ("station_s0_2", URL)
            tabs = [(tab["resourceId"], tab["tabId"]) for tab in (await server.get("/api/tabs"))["tabs"]]
            assert tabs[0] == ("station_s0_2", opened["tabId"])
            assert [resource_id for resource_id, _ in tabs] == ["station_s0_2", "station_s0_1"]
