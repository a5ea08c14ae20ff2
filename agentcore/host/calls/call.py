"""The data of a call: what was asked, what is known on the way, how it ended."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agentcore.api.context import Principal
from agentcore.api.definition import CallPreview
from agentcore.api.resource import Resource
from agentcore.api.result import ToolResult
from agentcore.encoding import to_json
from agentcore.errors import ToolError
from agentcore.host.approvals.pending import PendingApproval
from agentcore.host.containment.containment import Contained
from agentcore.host.modules.record import RegisteredTool
from agentcore.host.policy.authority import PERSONS, Decision
from agentcore.rules.call_facts import ApprovalMode
from agentcore.store import CallRow

Notify = Callable[[str, Mapping[str, Any]], None]
"""Told of `accepted`, `decided` (whether a person is asked), `progress` and `approval` while a caller waits."""


@dataclass(slots=True)
class CallRequest:
    """One wish to call a tool.

    Args:
        tool: Its name.
        arguments: As the caller gave them.
        principal: Who asks.
        session_id: The session it belongs to; None: the principal's default one.
        resource_id: The resource to act on; None: the argument's, else the session's default.
        timeout_ms: Time limit of queue and execution; None: the tool's.
        call_id: The id of a call that waited for approval and is sent again.
        parent_call_id: The call from inside which this one is made.
        waits_for_approval: Whether the caller stays while a person decides.
        agent_id: The agent whose call it is; empty: none's.
        mode: What becomes of calls that no rule speaks of; None: as app.json says. Never a caller's own word.
    """

    tool: str
    arguments: dict[str, Any]
    principal: Principal
    session_id: str | None = None
    resource_id: str | None = None
    timeout_ms: int | None = None
    call_id: str | None = None
    parent_call_id: str | None = None
    waits_for_approval: bool = False
    agent_id: str = ""
    mode: ApprovalMode | None = None


@dataclass(slots=True)
class CallOutcome:
    """How a call ended: with a result, or with an error object.

    Args:
        call_id: Its id in the record and in the log.
        result: What the tool gave; None when it failed.
        error: Why it failed; None when it did not.
        resource_id: The resource that it acted on.
        encoded_data: The result's data as JSON text, encoded once.
        edited_arguments: What it ran with, where the person who approved it had edited the arguments.
        is_untrusted: Whether what the result or the error says comes from the open world.
    """

    call_id: str
    result: ToolResult | None = None
    error: ToolError | None = None
    resource_id: str | None = None
    encoded_data: bytes = b"null"
    edited_arguments: dict[str, Any] | None = None
    is_untrusted: bool = False

    @property
    def ok(self) -> bool:
        """Whether there is a result."""
        return self.error is None

    def encoded(self) -> bytes:
        """The envelope of the wire as JSON text; the data was encoded once, when the result was settled."""
        head: dict[str, Any] = {"ok": self.ok, "callId": self.call_id}
        if self.resource_id is not None:
            head["resourceId"] = self.resource_id
        if self.edited_arguments is not None:
            head["editedArguments"] = self.edited_arguments
        if self.error is not None:
            head["error"] = self.error.to_json()
            return to_json(head)
        assert self.result is not None  # noqa: S101 - one of the two is set
        head["content"] = [block.to_json() for block in self.result.blocks()]
        if self.result.truncated:
            head["truncated"] = True
        return to_json(head)[:-1] + b',"data":' + self.encoded_data + b"}"

    def unwrap(self) -> ToolResult:
        """The result.

        Raises:
            ToolError: What ended the call instead.
        """
        if self.error is not None:
            raise self.error
        assert self.result is not None  # noqa: S101 - one of the two is set
        return self.result


@dataclass(slots=True, eq=False)
class Call:
    """A call on its way."""

    id: str
    request: CallRequest
    session_id: str
    started: float
    started_ms: int
    depth: int = 0
    holds: frozenset[str] = frozenset()
    tool: RegisteredTool | None = None
    arguments: dict[str, Any] = field(default_factory=dict)
    digest: str = ""
    shown_arguments: str = ""
    preview: CallPreview | None = None
    decision: Decision | None = None
    decided_by: str = ""
    policy_version: int | None = None
    approval: PendingApproval | None = None
    edited_arguments: dict[str, Any] | None = None
    resource: Resource | None = None
    row: CallRow | None = None
    has_read_untrusted: bool = False
    work: Contained[CallOutcome] | None = None
    notify: Notify | None = None
    is_notified_by_parent: bool = False
    is_cancelled: bool = False
    deadline: float = 0.0

    def tell_decision(self, *, asks: bool) -> None:
        """Tell the caller whether a person is asked about it."""
        if self.notify is not None and not self.is_notified_by_parent:
            self.notify("decided", {"callId": self.id, "asks": asks})

    @property
    def is_of_open_world(self) -> bool:
        """Whether what it says may repeat what strangers say: by its tool, or by the calls that it made."""
        annotations = None if self.tool is None else self.tool.definition.annotations
        return self.has_read_untrusted or (annotations is not None and annotations.open_world is True)

    @property
    def is_of_person(self) -> bool:
        """Whether a person makes it, and no model."""
        return self.request.principal.kind in PERSONS
