"""A preview has no effects, wherever its module runs: nobody has approved anything yet."""

import asyncio
import contextlib

import pytest

from tests.hosts.two_machines import WAIT_S, Place, paired, serving

pytestmark = pytest.mark.spec("H1", "H3")

BOXES = '''
import asyncio
import os
from agentcore.api import CallPreview, Module, ResourceUse, ToolContext, tool


class Boxes(Module):
    """Boxes that are changed."""

    async def _do(self, ctx: ToolContext, how: str) -> None:
        resources, box = self.runtime.resources, ctx.resource.resource_id
        if how == "create":
            resources.create("box", ctx.session_id)
        elif how == "adopt":
            resources.adopt(box, self._end)
        elif how == "update":
            resources.update(box, title="changed")
        elif how == "emit":
            resources.emit(box, "log", {"text": "changed"})
        elif how == "release":
            await resources.release(box)
        elif how == "store":
            await self.runtime.storage.put("box", b"changed")
        elif how == "forget":
            await self.runtime.storage.delete("box")

    async def _preview(self, ctx: ToolContext, arguments) -> CallPreview:
        if arguments["early"]:
            await self._do(ctx, arguments["how"])
        if arguments["how"] == "look":
            open(arguments["wait_for"] + ".looked", "w").close()
        return CallPreview(words="change a box")

    @tool(effects=("write",), resource=ResourceUse("box", create=True), preview=_preview)
    async def change(self, ctx: ToolContext, how: str = "", early: bool = False, wait_for: str = "") -> str:
        """Change a box, or have the preview try it; once a file is there."""
        while wait_for and not os.path.exists(wait_for):
            await asyncio.sleep(0.02)
        if how == "open":
            self.runtime.resources.adopt(ctx.resource.resource_id, self._end)
            self.runtime.resources.update(ctx.resource.resource_id, status="ready", title="as it was")
        await self._do(ctx, how)
        return "changed"

    async def _end(self, resource) -> None:
        pass
'''
WAYS = ("create", "adopt", "update", "emit", "store", "forget", "release")


def place(folder, **app):
    made = Place(folder, modules=["boxes"], approvals={"mode": "allow"}, **app)
    made.add_module("boxes", BOXES)
    return made


@contextlib.asynccontextmanager
async def at_home(folder, home):
    """A server with the module at one of its homes; gives it, and what its calls say of where they go."""
    hosts = {"own": {"kind": "process", "modules": ["boxes"]}} if home == "process" else {}
    async with contextlib.AsyncExitStack() as held:
        server = await held.enter_async_context(serving(place(folder / "server", hosts=hosts)))
        if home == "machine":
            await held.enter_async_context(paired(server, place(folder / "laptop"), "laptop"))
        yield server, {"host": "laptop"} if home == "machine" else {}


@pytest.mark.parametrize("home", ["server", "process", "machine"])
async def test_a_preview_takes_no_resource_from_the_call_that_makes_it(tmp_path, home):
    async with at_home(tmp_path, home) as (server, where):
        go, looked = tmp_path / "go", tmp_path / "go.looked"
        making = asyncio.create_task(server.call("change", how="open", wait_for=str(go), **where))
        async with asyncio.timeout(WAIT_S):
            while not (await server.get("/api/resources"))["resources"]:
                await asyncio.sleep(0.02)
            other = asyncio.create_task(server.call("change", how="look", wait_for=str(go), **where))
            while not looked.exists():
                await asyncio.sleep(0.02)
        go.touch()
        made = await making
        assert made["ok"], made
        assert (await other)["resourceId"] == made["resourceId"]
        [box] = (await server.get("/api/resources"))["resources"]
        assert (box["status"], box["title"]) == ("ready", "as it was")


@pytest.mark.more
@pytest.mark.parametrize("home", ["server", "process", "machine"])
async def test_a_preview_changes_no_resource_and_stores_nothing(tmp_path, home):
    async with at_home(tmp_path, home) as (server, where):
        assert (await server.call("change", how="open", **where))["ok"]
        for how in WAYS:
            before = (await server.get("/api/resources"))["resources"]
            refused = await server.call("change", how=how, early=True, **where)
            assert refused.get("error", {}).get("type") == "not_in_preview", (how, refused)
            [same] = (await server.get("/api/resources"))["resources"]
            assert [same | {"lastUsedAt": 0}] == [each | {"lastUsedAt": 0} for each in before[:1]], how
            done = await server.call("change", how=how, resource_id=before[0]["resourceId"], **where)
            assert done["ok"], (how, done)
            if how == "create":
                made = (await server.get("/api/resources"))["resources"]
                assert len(made) == 2
                assert (await server.delete(f"/api/resources/{made[1]['resourceId']}"))["ok"]
        assert (await server.get("/api/resources"))["resources"] == []
