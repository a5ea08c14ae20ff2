"""The end of a call: its row in the record, events, and one line in the log."""

import time
from typing import Any

import structlog

from agentcore.api import ArtifactLink, ToolResult
from agentcore.core.calls.call import Call, CallOutcome, PreparedCall
from agentcore.core.events import EventBus
from agentcore.core.resources.registry import ResourceRegistry
from agentcore.errors import ToolError
from agentcore.store.record.call_row import CallRow
from agentcore.store.store import Store

log = structlog.get_logger(__name__)


class Settlement:
    """Tells of calls that have ended.

    Attributes:
        counts: How many have ended, by `ok` or the error's type.
    """

    def __init__(self, store: Store, events: EventBus, resources: ResourceRegistry) -> None:
        self._record = store.record
        self._events = events
        self._resources = resources
        self.counts: dict[str, int] = {}

    def resource_of(self, call: Call, outcome: CallOutcome) -> str | None:
        """Return the resource that a call has created, according to its result, or the one that it acted on."""
        prepared = call.prepared
        if prepared is None:
            return None
        made = outcome.result.resource_id if outcome.result is not None else None
        if made is not None:
            try:
                return self._resources.get(made, prepared.tool.module.name).resource_id
            except ToolError:
                pass  # it has gone already, or is none of the module's: what the call acted on counts
        return prepared.resource.resource_id if prepared.resource is not None else None

    def settle_call(self, call: Call, outcome: CallOutcome) -> None:
        """Release what the call had locked, and report its end."""
        ended = outcome.outcome_type
        prepared = call.prepared
        self.counts[ended] = self.counts.get(ended, 0) + 1
        duration_ms = round((time.perf_counter() - call.started) * 1000, 3)
        if prepared is not None:
            # before the end is reported: everything that the call had locked is free by then
            self._release_resource(call, prepared, outcome, duration_ms)
        row = row_of(call, ended, duration_ms)
        self._record.append(row)
        self._events.publish(
            "call.finished",
            {"callId": call.id, "tool": row.tool, "module": row.module, "outcome": ended, "durationMs": duration_ms},
            session_id=call.session_id,
        )
        log.info(
            "call_finished",
            call_id=call.id,
            tool=row.tool,
            module=row.module,
            session_id=call.session_id,
            outcome=ended,
            duration_ms=duration_ms,
        )

    def _release_resource(self, call: Call, prepared: PreparedCall, outcome: CallOutcome, duration_ms: float) -> None:
        has_run = prepared.tool.module.end_call(call.id)
        resource = prepared.resource
        if resource is None:
            return
        self._resources.record_call_end(resource, is_used=outcome.ok)
        if has_run:
            what = {
                "callId": call.id,
                "tool": call.request.tool,
                "outcome": outcome.outcome_type,
                "durationMs": duration_ms,
            }
            self._resources.publish_event(resource, "log", what)
            for picture in _list_images(outcome.result):
                self._resources.publish_event(resource, "screenshot", {"callId": call.id, **picture})


def row_of(call: Call, outcome: str, duration_ms: float | None = None) -> CallRow:
    """The row of a call in the record, with as much as is known of it."""
    if call.is_carried_on and call.row is not None:
        return call.row._replace(outcome=outcome, duration_ms=duration_ms)
    request = call.request
    prepared = call.prepared
    ruling = call.ruling
    resource = None if prepared is None else prepared.resource
    return CallRow(
        call_id=call.id,
        parent_call_id=request.parent_call_id,
        time_ms=call.started_ms,
        tool=request.tool[:64],
        module="" if prepared is None else prepared.tool.module.name,
        session_id=call.session_id[:64],
        principal_kind=request.principal.kind,
        principal_id=request.principal.id,
        arguments="" if prepared is None else prepared.shown_arguments,
        arguments_digest="" if prepared is None else prepared.digest,
        decision="" if ruling is None else ruling.decision.kind,
        decided_by="" if ruling is None else ruling.decided_by,
        outcome=outcome,
        duration_ms=duration_ms,
        resource_id=None if resource is None else resource.resource_id,
    )


def _list_images(result: ToolResult | None) -> list[dict[str, Any]]:
    """Return `{mime, artifactId}` of each image; for one in the result itself, `artifactId` is null."""
    found: list[dict[str, Any]] = []
    for block in result.blocks() if result is not None else ():
        mime = getattr(block, "mime", "")
        if mime.startswith("image/"):
            found.append({"mime": mime, "artifactId": block.artifact_id if isinstance(block, ArtifactLink) else None})
    return found
