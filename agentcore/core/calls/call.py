"""The data of a call: what was asked, what is known on the way, how it ended."""

import asyncio
import itertools
import secrets
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

from agentcore.api import CallPreview, Principal, Resource, ToolResult
from agentcore.approval_rules.decisions import ApprovalMode
from agentcore.core.approvals.pending_approval import PendingApproval
from agentcore.core.calls.call_reports import ShownOutput
from agentcore.core.module_code.containment import Contained
from agentcore.core.modules.module_record import RegisteredTool
from agentcore.core.policy.authority import PERSONS, USER_ACCOUNT, Decision, client_in
from agentcore.documents.image_fitting import FittedImage
from agentcore.encoding import to_json
from agentcore.errors import ToolError
from agentcore.late_dataclasses import dataclass
from agentcore.store.record.call_row import CallRow

Notify = Callable[[str, Mapping[str, Any]], None]
"""Receives the call's events: `accepted` (carries the id for cancelling), `decided` (whether approval is needed),
`progress`, `log`, `approval`."""

_PROCESS = secrets.token_hex(6)
_numbers = itertools.count(1)
"""Together they form ids that no other process, and no other core in this one, creates."""


def new_call_id() -> str:
    """Return an id for a call that no other call has, also after a restart."""
    return f"call_{_PROCESS}{next(_numbers):08x}"


@dataclass(frozen=True, slots=True)
class ModelReader:
    """The model that reads the result of a call.

    Args:
        result_chars: Maximum text that it gets, in characters; None: the limit of the tool or the core.
        may_call: True for names of tools that it may call: a hint at the next call must name one of these.
        fit_image: Returns an image as it can be sent to the model, or why it cannot; None: images are not checked.
    """

    result_chars: int | None = None
    may_call: Callable[[str], bool] = lambda tool: True
    fit_image: Callable[[bytes], Awaitable[FittedImage | str]] | None = None


class Asker(Protocol):
    """The client behind a call and its user, reached by the way that the call came."""

    async def ask(self, question: str, options: Sequence[str] | None, timeout_s: float | None) -> str: ...

    async def fill_in(self, question: str, schema: Mapping[str, Any], timeout_s: float | None) -> Mapping[str, Any]:
        """Return what the user fills into a form; not validated yet.

        Raises:
            ToolError: `no_person`.
        """
        ...

    async def open_address(self, question: str, url: str, timeout_s: float | None) -> None:
        """See `agentcore.api.ToolContext.ask`.

        Raises:
            ToolError: `no_person`, `declined`.
        """
        ...

    async def sample(self, prompt: str, system: str, max_tokens: int) -> str: ...

    async def roots(self) -> Sequence[str]: ...


@dataclass(slots=True)
class CallRequest:
    """A request to call a tool.

    Args:
        session_id: The session it belongs to; None: the principal's default one.
        resource_id: The resource to act on; None: that of the arguments, else the session's default.
        timeout_ms: Time limit of queue and execution; None: the tool's.
        call_id: The id of a call that waited for approval and is sent again.
        planned_id: The id of a new call, from `new_call_id`, for a caller that stores it before the call begins.
        parent_call_id: The call that makes this one.
        waits_for_approval: True if the caller waits while the user decides.
        inner_waits: True if calls that it makes wait while the user decides, although it does not wait itself.
        agent_id: The agent that makes the call; empty: none.
        mode: The decision for calls that no rule applies to; None: that of app.json. Never set by a caller.
        reader: The model that reads the result, of which it gets a bounded part; None: a program, which gets all of it.
        asker: Asks the caller's user; None: only the chat can ask, if there is one.
        host: The foreign machine that the caller has chosen; empty: none.
        session_owner: Who created the chat session that it belongs to, as `owner_of` names them; empty: unknown.
        names_note: For a model: which names of its arguments were replaced; empty: none.
    """

    tool: str
    arguments: dict[str, Any]
    principal: Principal
    session_id: str | None = None
    resource_id: str | None = None
    timeout_ms: int | None = None
    call_id: str | None = None
    planned_id: str | None = None
    parent_call_id: str | None = None
    waits_for_approval: bool = False
    inner_waits: bool = False
    agent_id: str = ""
    mode: ApprovalMode | None = None
    reader: ModelReader | None = None
    asker: Asker | None = None
    host: str = ""
    session_owner: str = ""
    names_note: str = ""

    @property
    def account(self) -> str:
        """The account whose share of limited capacity it uses: a client with all its chats, else a chat with its views.

        `user` for the user's own calls.
        """
        principal = self.principal
        if principal.kind in PERSONS:
            return USER_ACCOUNT
        if principal.kind not in ("chat", "view"):
            return principal.name
        return self.session_owner if client_in(self.session_owner) else f"chat:{self.session_id or principal.id}"


@dataclass(slots=True)
class CallOutcome:
    """How a call ended: with a result, or with an error object.

    Args:
        encoded_data: The result's data as JSON text, encoded once.
        edited_arguments: The edited arguments, if the user changed them when approving.
        is_untrusted: True if text of the result or the error comes from outside.
        artifact_account: The account whose quota its artifacts use.
        host: The foreign machine that carried it out; empty: the server, or none.
    """

    call_id: str
    result: ToolResult | None = None
    error: ToolError | None = None
    resource_id: str | None = None
    encoded_data: bytes = b"null"
    edited_arguments: dict[str, Any] | None = None
    is_untrusted: bool = False
    artifact_account: str = ""
    host: str = ""

    @property
    def ok(self) -> bool:
        """True if there is a result."""
        return self.error is None

    @property
    def outcome_type(self) -> str:
        """How it ended, in a word: `ok`, or the error's type."""
        return "ok" if self.error is None else self.error.type

    def encode_envelope(self) -> bytes:
        """The envelope of the wire as JSON text; the data was encoded once, when the result was settled."""
        head: dict[str, Any] = {"ok": self.ok, "callId": self.call_id}
        if self.resource_id is not None:
            head["resourceId"] = self.resource_id
        if self.host:
            head["host"] = self.host
        if self.edited_arguments is not None:
            head["editedArguments"] = self.edited_arguments
        if self.error is not None:
            head["error"] = self.error.to_json()
            return to_json(head)
        assert self.result is not None  # noqa: S101 - one of the two is set
        head["content"] = [block.to_json() for block in self.result.blocks()]
        if self.result.truncated:
            head["truncated"] = True
        # joined once: each concatenation would copy a long text
        return b"".join((memoryview(to_json(head))[:-1], b',"data":', self.encoded_data, b"}"))

    def unwrap(self) -> ToolResult:
        """Return the result.

        Raises:
            ToolError: The error that ended the call.
        """
        if self.error is not None:
            raise self.error
        assert self.result is not None  # noqa: S101 - one of the two is set
        return self.result


class PreparedCall(NamedTuple):
    """The tool, resource, arguments and preview of a call, determined without side effects. Immutable.

    Args:
        given: The arguments of the caller, or as the user edited them when approving.
        arguments: As the tool gets them: validated, with defaults; until then as `given`.
        digest: sha256 of the JSON text of `given`, in hexadecimal digits.
        shown_arguments: For the record and its readers: JSON text, bounded, with secrets masked.
        resource: The resource that it acts on; None: none, or one that it creates itself.
        preview: What it would touch; None: the tool has no preview.
    """

    tool: RegisteredTool
    given: dict[str, Any]
    arguments: dict[str, Any]
    digest: str
    shown_arguments: str
    resource: Resource | None = None
    preview: CallPreview | None = None


class CallDecision(NamedTuple):
    """The decision about a call, by the policy and by the user.

    Args:
        decided_by: What, or who, allowed or rejected it; empty: not decided yet.
        policy_version: The version of the policy that decided; None: the policy must be checked again.
        approval: The approval that the call uses up; None: the user has not decided on it.
    """

    decision: Decision
    decided_by: str
    policy_version: int | None
    approval: PendingApproval | None = None


@dataclass(slots=True, eq=False)
class Call:
    """A call in flight.

    Args:
        started: When it arrived, by `time.perf_counter`.
        started_ms: When it arrived, in milliseconds since 1970.
        prepared: What it would do; if preparation fails, as far as it is known.
        ruling: The decision so far.
        row: Its row in the record; None: it has not begun.
        work: Carries it out; None: it was not admitted.
        deadline: The event loop's time at which it is ended; 0: not set yet.
        is_cancelled: True if it was ended from outside; threads that work on it check this.
        has_ended: True if its outcome is known: progress is not reported any more.
        output: Its output while it runs; None: none yet.
        has_inner: True if it has made calls.
        has_read_untrusted: True if a call that it made has read untrusted content.
        has_opened_untrusted: True if it has read untrusted content itself, from an earlier call's artifact.
        is_carried_on: True if an earlier server began it, and its host kept running it: `row` has the known facts.
        host: The host from which its tool was looked up: the one that was chosen for it, or that has its resource.
            Its tool may belong to another one if this host has none of the name.
    """

    id: str
    request: CallRequest
    session_id: str
    notify: Notify | None
    started: float
    started_ms: int
    parent: "Call | None" = None
    prepared: PreparedCall | None = None
    ruling: CallDecision | None = None
    row: CallRow | None = None
    work: Contained[CallOutcome] | None = None
    deadline: float = 0.0
    is_cancelled: bool = False
    has_ended: bool = False
    output: ShownOutput | None = None
    has_inner: bool = False
    has_read_untrusted: bool = False
    has_opened_untrusted: bool = False
    is_carried_on: bool = False
    host: str = ""

    @classmethod
    def from_request(cls, request: CallRequest, notify: Notify | None = None) -> "Call":
        """A call that nothing has been looked at yet, with an id of its own."""
        principal = request.principal
        session_id = request.session_id or (f"{principal.kind}-{principal.id}" if principal.id else principal.kind)
        call_id = request.call_id or request.planned_id or new_call_id()
        return cls(call_id, request, session_id, notify, time.perf_counter(), time.time_ns() // 1_000_000)

    @property
    def resource(self) -> Resource | None:
        """The resource that it acts on, once it is known."""
        return None if self.prepared is None else self.prepared.resource

    @property
    def host_inside(self) -> str:
        """The host for calls that it makes: that of its module, else the one chosen for it."""
        return (self.prepared is not None and self.prepared.tool.module.host) or self.host

    @property
    def asking_host(self) -> str:
        """The foreign machine whose texts a question of it may contain: its own, or that of a call that made it.

        Empty: only the server is involved.
        """
        made_by = [call.prepared for call in (self, *self.ancestors())]
        hosts = [prepared.tool.module.host for prepared in made_by if prepared is not None]
        return next(filter(None, hosts), "")

    @property
    def edited_arguments(self) -> dict[str, Any] | None:
        """The edited arguments, if the user changed them when approving."""
        prepared = self.prepared
        return None if prepared is None or prepared.given is self.request.arguments else prepared.given

    @property
    def is_of_open_world(self) -> bool:
        """True if its text may come from outside: because of its tool, or of the calls that it made."""
        annotations = None if self.prepared is None else self.prepared.tool.definition.annotations
        is_declared = annotations is not None and annotations.open_world is True
        return is_declared or self.has_read_untrusted or self.has_opened_untrusted

    @property
    def account(self) -> str:
        """The account whose limited capacity it uses: that of the outermost call that the user did not make."""
        if self.parent is None:
            return self.request.account
        accounts = [call.request.account for call in (self, *self.ancestors())]
        return next((account for account in reversed(accounts) if account != USER_ACCOUNT), USER_ACCOUNT)

    @property
    def artifact_account(self) -> str:
        """The account whose quota its artifacts use: a client, a mounted server or a foreign machine; empty: the
        user's."""
        account = self.account
        if account.startswith(("mcp:", "client:", "host:")):
            return account
        module = None if self.prepared is None else self.prepared.tool.module
        if module is not None and module.host:
            return f"host:{module.host}"
        return f"module:{module.name}" if module is not None and module.manifest.definitions_need_review else ""

    @property
    def is_made_by_user(self) -> bool:
        """True if the user makes it, not a model."""
        return self.request.principal.kind in PERSONS

    @property
    def is_notified_by_parent(self) -> bool:
        """True if its listeners know it as part of another call, which they were notified of."""
        return self.parent is not None and self.parent.notify is self.notify

    def report_decision(self, *, asks: bool) -> None:
        """Report to the caller whether approval is needed, and the tool's summary of what it would do."""
        if self.notify is not None and not self.is_notified_by_parent:
            preview = None if self.prepared is None else self.prepared.preview
            words = {"words": preview.words} if preview is not None and preview.words else {}
            self.notify("decided", {"callId": self.id, "asks": asks, **words})

    def is_inside_turn_of(self, resource: Resource) -> bool:
        """True if a call that made it acts on this resource."""
        found = [parent.resource for parent in self.ancestors()]
        return any(each is not None and each.resource_id == resource.resource_id for each in found)

    def ancestors(self) -> "Iterator[Call]":
        """Yield the call that made it, the one that made that, and so on."""
        call = self.parent
        while call is not None:
            yield call
            call = call.parent


@contextmanager
def pause_clock(call: Call | None) -> Iterator[None]:
    """Stop the clock of a call, and of those that made it, while waiting for the user."""
    loop = asyncio.get_running_loop()
    chain = () if call is None else (call, *call.ancestors())
    began = loop.time()
    for each in chain:
        if each.work is not None:
            each.work.pause_timer()
    try:
        yield
    finally:
        for each in chain:
            if each.work is not None and each.deadline:
                each.deadline += loop.time() - began
                each.work.resume_timer(each.deadline)
