"""What calls do to resources, told as events of the resource."""

import pytest

from agentcore.api import ArtifactLink, Image, Module, ResourceUse, ToolContext, ToolError, ToolResult, tool
from agentcore.core.events import EventBus
from agentcore.testing import HostFactory

HOST = {"modules": ["lab"]}

pytestmark = pytest.mark.spec("R4")
USE = ResourceUse("stage", create=True)


class Stages(Module):
    """Stages to act on."""

    name = "stages"

    @tool(resource=USE)
    async def stage_act(self, ctx: ToolContext, fails: bool = False) -> ToolResult:
        """Act on one."""
        ctx.progress(0.5, "half")
        if fails:
            raise ToolError("stage_broken", "it broke")
        link = ArtifactLink("art_1", "image/png", 4, "picture.png")
        return ToolResult([Image(b"data"), link, ArtifactLink("art_2", "text/plain", 1, "notes.txt")])

    @tool
    async def stage_emit(self, ctx: ToolContext) -> None:
        """Say that one broke."""
        made = self.runtime.resources.create("stage", ctx.session_id)
        forged = {"type": "forged", "id": "x", "time": 1, "sessionId": "other", "resourceId": "other", "message": "m"}
        self.runtime.resources.emit(made.resource_id, "error", forged)

    @tool
    async def stage_none(self) -> None:
        """Act on nothing."""


async def test_call_on_a_resource_tells_log_progress_and_pictures(agentcore_host: HostFactory) -> None:
    host = await agentcore_host([Stages()])
    begun = host.host.events.last_id
    outcome = await host.outcome("stage_act", {}, session_id="s1")
    (log,), (progress,) = host.events.of("resource.log"), host.events.of("resource.progress")
    same = {"resourceId": "stage_s1_0", "callId": outcome.call_id, "sessionId": "s1"}
    assert log.items() >= {**same, "tool": "stage_act", "outcome": "ok"}.items()
    assert log["durationMs"] > 0
    assert progress.items() >= {**same, "fraction": 0.5, "message": "half"}.items()
    pictures = host.events.of("resource.screenshot")
    assert [(picture["mime"], picture["artifactId"]) for picture in pictures] == [
        ("image/png", None),
        ("image/png", "art_1"),
    ]
    assert pictures[0].items() >= same.items()
    resumed = {event.type for event in host.host.events.events_since(begun) or []}
    assert {"resource.log", "resource.progress"} <= resumed
    assert "resource.screenshot" not in resumed


async def test_call_that_failed_is_in_the_log_and_one_without_a_resource_is_not(agentcore_host: HostFactory) -> None:
    host = await agentcore_host([Stages()])
    await host.outcome("stage_act", {"fails": True})
    await host.outcome("stage_act", {"fails": [1]})  # it never ran
    await host.outcome("stage_none", {})
    assert [log["outcome"] for log in host.events.of("resource.log")] == ["stage_broken"]


async def test_data_of_an_event_cannot_stand_in_the_place_of_its_own_fields(agentcore_host: HostFactory) -> None:
    host = await agentcore_host([Stages()])
    await host.outcome("stage_emit", {}, session_id="s1")
    (error,) = host.events.of("resource.error")
    assert error["message"] == "m"
    assert (error["type"], error["sessionId"], error["resourceId"]) == ("resource.error", "s1", "stage_s1_0")
    assert error["id"] != "x"
    assert error["time"] > 1


async def test_event_of_no_session_says_none() -> None:
    bus, heard = EventBus(), []
    bus.subscribe("x", heard.append)
    bus.publish("x", {"sessionId": "forged", "n": 1})
    assert set(heard[0].to_json()) == {"id", "type", "time", "n"}
