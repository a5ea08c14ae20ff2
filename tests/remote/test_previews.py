"""A preview has no effects, wherever its module runs: nobody has approved anything yet."""

import contextlib

import pytest

from tests.remote.two_machines import Place, paired, serving

pytestmark = pytest.mark.spec("H1", "H3")

BOXES = '''
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
        return CallPreview(words="change a box")

    @tool(effects=("write",), resource=ResourceUse("box", create=True), preview=_preview)
    async def change(self, ctx: ToolContext, how: str = "", early: bool = False) -> str:
        """Change a box, or have the preview try it."""
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


@pytest.mark.parametrize("home", ["server", "process", "machine"])
async def test_a_preview_changes_no_resource_and_stores_nothing(tmp_path, home):
    hosts = {"own": {"kind": "process", "modules": ["boxes"]}} if home == "process" else {}
    where = {"host": "laptop"} if home == "machine" else {}
    async with contextlib.AsyncExitStack() as held:
        server = await held.enter_async_context(serving(place(tmp_path / "server", hosts=hosts)))
        if home == "machine":
            await held.enter_async_context(paired(server, place(tmp_path / "laptop"), "laptop"))
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
