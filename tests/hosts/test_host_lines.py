"""What `agentcore host --json` tells the program that has started it, such as a desktop shell."""

import asyncio
import json

import pytest

from tests.hosts.two_machines import WAIT_S, Place, dialling, serving

pytestmark = pytest.mark.spec("H5")

THINGS = '''
from agentcore.api import Module, ResourceUse, ToolContext, ToolError, tool


class Things(Module):
    """Has things."""

    @tool(read_only=True, resource=ResourceUse("thing", create=True))
    async def thing_use(self, ctx: ToolContext, title: str = "") -> str:
        """Use the session's thing; without a title there is none."""
        if not title:
            raise ToolError("no_thing", "there is none")
        self.runtime.resources.adopt(ctx.resource.resource_id, self._end)
        self.runtime.resources.update(ctx.resource.resource_id, status="ready", title=title)
        return title

    async def _end(self, resource) -> None:
        pass
'''


async def told(worker, is_it):
    """The lines of one kind, once the last of them is it."""
    async with asyncio.timeout(WAIT_S):
        while True:
            lines = [json.loads(line) for line in worker.lines if line.startswith("{")]
            if (found := [line for line in lines if "type" in line]) and is_it(found[-1]):
                return found
            await asyncio.sleep(0.05)


async def test_each_thing_that_is_told_is_a_line_of_json(tmp_path):
    server_place = Place(tmp_path / "server", modules=[], approvals={"mode": "allow"})
    place = Place(tmp_path / "laptop", modules=["things"])
    place.add_module("things", THINGS)
    async with serving(server_place) as server, dialling(place, server.address, "laptop", "--json") as worker:
        offers, *_, code = await told(worker, lambda line: line["type"] == "agent.code")
        assert (offers["type"], offers["tools"]) == ("agent.offers", {"things": ["thing_use"]})
        await server.let_in(code["code"])
        await server.host_is("laptop", "running")
        assert (await server.call("thing_use"))["error"]["type"] == "no_thing"
        await told(worker, lambda line: line.get("status") == "closed")
        assert (await server.call("thing_use", title="First"))["ok"]
        await told(worker, lambda line: line.get("title") == "First")
        await server.delete("/api/resources/thing_s0_0")
        lines = await told(worker, lambda line: line.get("status") == "closed" and line["title"] == "First")
    changes = [line for line in lines if line["type"] == "resource.stateChanged"]
    assert {change["resourceId"] for change in changes} == {"thing_s0_0"}
    statuses = list(dict.fromkeys((change["status"], change["title"]) for change in changes))
    assert statuses == [("starting", None), ("closed", None), ("ready", "First"), ("closed", "First")]
    assert any(line["type"] == "agent.state" for line in lines)
