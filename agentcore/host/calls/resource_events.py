"""What calls do to resources, told as events of the resource: what was done, how far it is, which pictures came."""

from collections.abc import Mapping
from typing import Any

from agentcore.api.result import ArtifactLink, ToolResult
from agentcore.errors import ToolError
from agentcore.host.calls.call import Call, CallOutcome
from agentcore.host.resources.registry import ResourceRegistry


def resource_of(call: Call, outcome: CallOutcome, resources: ResourceRegistry) -> str | None:
    """The resource that a call has made, by the word of its result, or the one that it acted on."""
    made = outcome.result.resource_id if outcome.result is not None else None
    if made is not None and call.tool is not None:
        try:
            return resources.get(made, call.tool.module.name).resource_id
        except ToolError:
            pass  # it has gone already, or is none of the module's: what the call acted on counts
    return call.resource.resource_id if call.resource is not None else None


def tell_progress(call: Call, told: Mapping[str, Any], resources: ResourceRegistry) -> None:
    """`resource.progress` `{resourceId, callId, message, fraction?}`, for a call that acts on one."""
    if call.resource is not None:
        resources.tell(call.resource, "progress", told)


def tell_end(call: Call, outcome: CallOutcome, duration_ms: float, resources: ResourceRegistry) -> None:
    """`resource.log` `{resourceId, callId, tool, outcome, durationMs}`, and what pictures the call gave.

    `resource.screenshot` is `{resourceId, callId, mime, artifactId}` for each; of one that stands in the result itself
    and is no artifact, `artifactId` is null.
    """
    if call.resource is None:
        return
    said = "ok" if outcome.error is None else outcome.error.type
    told = {"callId": call.id, "tool": call.request.tool, "outcome": said, "durationMs": duration_ms}
    resources.tell(call.resource, "log", told)
    for picture in _pictures(outcome.result):
        resources.tell(call.resource, "screenshot", {"callId": call.id, **picture})


def _pictures(result: ToolResult | None) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for block in result.blocks() if result is not None else ():
        mime = getattr(block, "mime", "")
        if mime.startswith("image/"):
            found.append({"mime": mime, "artifactId": block.artifact_id if isinstance(block, ArtifactLink) else None})
    return found
