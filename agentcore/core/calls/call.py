"""The data of a call: what was asked, what is known on the way, how it ended."""

import asyncio
import itertools
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from agentcore.api import CallPreview, Principal, Resource, ToolResult
from agentcore.approval_rules.decisions import ApprovalMode
from agentcore.core.approvals.pending import PendingApproval
from agentcore.core.calls.reported import ShownOutput
from agentcore.core.containment.containment import Contained
from agentcore.core.modules.module_record import RegisteredTool
from agentcore.core.policy.authority import PERSONS, USER_ACCOUNT, Decision, client_in
from agentcore.encoding import to_json
from agentcore.errors import ToolError
from agentcore.store.record import CallRow

Notify = Callable[[str, Mapping[str, Any]], None]
"""Told of `accepted` (the id to cancel by), `decided` (is a person asked?), `progress`, `log`, `approval` meanwhile."""

_PROCESS = secrets.token_hex(6)
_numbers = itertools.count(1)
"""Together they make ids that no other process, and no other host in this one, makes."""


def new_call_id() -> str:
    """Return an id for a call that no other call has, also after a restart."""
    return f"call_{_PROCESS}{next(_numbers):08x}"


@dataclass(frozen=True, slots=True)
class ModelReader:
    """The model that reads what a call gives.

    Args:
        result_chars: What it gets of the text at most, in characters; None: as the tool or the host says.
        may_call: Whether it may call a tool of this name: what it is told to do next, it has to be able to do.
    """

    result_chars: int | None = None
    may_call: Callable[[str], bool] = lambda tool: True


class Asker(Protocol):
    """The client behind a call and the person in front of it, reached by the way that the call came."""

    async def ask(self, question: str, options: Sequence[str] | None, timeout_s: float) -> str:
        """See `agentcore.api.ToolContext.ask`."""
        ...

    async def fill_in(self, question: str, schema: Mapping[str, Any], timeout_s: float) -> Mapping[str, Any]:
        """What a person fills into a form; not checked yet.

        Raises:
            ToolError: `no_person`.
        """
        ...

    async def open_address(self, question: str, url: str, timeout_s: float) -> None:
        """See `agentcore.api.ToolContext.ask`.

        Raises:
            ToolError: `no_person`, `declined`.
        """
        ...

    async def sample(self, prompt: str, system: str, max_tokens: int) -> str:
        """See `agentcore.api.ToolContext.sample`."""
        ...

    async def roots(self) -> Sequence[str]:
        """See `agentcore.api.ToolContext.client_roots`."""
        ...


@dataclass(slots=True)
class CallRequest:
    """One wish to call a tool.

    Args:
        session_id: The session it belongs to; None: the principal's default one.
        resource_id: The resource to act on; None: the argument's, else the session's default.
        timeout_ms: Time limit of queue and execution; None: the tool's.
        call_id: The id of a call that waited for approval and is sent again.
        planned_id: The id of a new call, from `new_call_id`, for a caller that stores it before the call begins.
        parent_call_id: The call from inside which this one is made.
        waits_for_approval: Whether the caller stays while a person decides.
        inner_waits: Whether calls that it makes wait while a person decides, although it does not wait itself.
        agent_id: The agent whose call it is; empty: none's.
        mode: What becomes of calls that no rule speaks of; None: as app.json says. Never a caller's own word.
        reader: The model that reads the result, of which it gets a bounded part; None: a program, which gets the whole.
        asker: Asks the person whom the caller knows; None: only the chat can be asked, if there is one.
        host: The host on another machine that the caller has chosen; empty: none.
        session_owner: Who made the chat session that it belongs to, as `owner_of` names them; empty: not known.
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

    @property
    def account(self) -> str:
        """Whose share of limited room it uses: a client's with all its chats, else a chat's with its views.

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
        edited_arguments: What it ran with, where the person who approved it had edited the arguments.
        is_untrusted: Whether what the result or the error says comes from the open world.
        artifact_account: Whose quota artifacts take that are made of it.
        host: The host on another machine that carried it out; empty: the server, or nobody.
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
        """Whether there is a result."""
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


class PreparedCall(NamedTuple):
    """What a call would do, found out without doing it: who carries it out and with what. Never changed, only replaced.

    Args:
        given: Its arguments, as the caller gave them, or the person who approved the call edited them.
        arguments: As the tool gets them: checked, with defaults; as they were given, until they are checked.
        digest: sha256 of the JSON text of what was given, in hexadecimal digits.
        shown_arguments: What the record and its readers see: JSON text, bounded, with secrets masked.
        resource: What it acts on; None: nothing, or what it makes itself.
        preview: What it would touch; None: the tool cannot say.
    """

    tool: RegisteredTool
    given: dict[str, Any]
    arguments: dict[str, Any]
    digest: str
    shown_arguments: str
    resource: Resource | None = None
    preview: CallPreview | None = None


class CallDecision(NamedTuple):
    """What was said of a call: by the policy, and by the person who was asked.

    Args:
        decided_by: What, or who, let it run or rejected it; empty: nobody has, yet.
        policy_version: The policy that was asked; None: it has to be asked again.
        approval: The approval that the call uses up; None: no person has decided on it.
    """

    decision: Decision
    decided_by: str
    policy_version: int | None
    approval: PendingApproval | None = None


@dataclass(slots=True, eq=False)
class Call:
    """A call on its way.

    Args:
        started: When it came, by `time.perf_counter`.
        started_ms: When it came, in milliseconds since 1970.
        prepared: What is known of what it would do; where preparing fails, as far as it came.
        ruling: What was said of it so far.
        row: Its row in the record; None: it has not begun.
        work: Carries it out; None: it was not admitted.
        deadline: The event loop's time at which it is cut off; 0: not set yet.
        is_cancelled: Whether it was ended from outside: a thread that works on it looks here.
        has_ended: Whether its outcome is known: nothing is told of its progress any more.
        output: What it writes while it runs; None: nothing yet.
        has_inner: Whether it has made calls.
        has_read_untrusted: Whether a call that it made has read what nobody vouches for.
        has_opened_untrusted: Whether it has itself, from what an earlier call had stored.
        is_carried_on: Whether an earlier server began it, and its host went on with it: `row` says what is known.
        host: The host from which its tool was looked for: the one that was chosen for it, or that has its resource.
            Its tool may be that of another all the same, where this host has none of the name.
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
        """What it acts on, once it is known."""
        return None if self.prepared is None else self.prepared.resource

    @property
    def host_inside(self) -> str:
        """The host that calls from inside of it are meant for: that of its module, else the one chosen for it."""
        return (self.prepared is not None and self.prepared.tool.module.host) or self.host

    @property
    def asking_host(self) -> str:
        """The host on another machine whose texts it may ask the user for: its own, or that of a call that made it.

        Empty: only the server has a part in it.
        """
        made_by = [call.prepared for call in (self, *self.ancestors())]
        hosts = [prepared.tool.module.host for prepared in made_by if prepared is not None]
        return next(filter(None, hosts), "")

    @property
    def edited_arguments(self) -> dict[str, Any] | None:
        """What it runs with, where the person who approved it has edited the arguments."""
        prepared = self.prepared
        return None if prepared is None or prepared.given is self.request.arguments else prepared.given

    @property
    def is_of_open_world(self) -> bool:
        """Whether what it says may repeat what strangers say: by its tool, or by the calls that it made."""
        annotations = None if self.prepared is None else self.prepared.tool.definition.annotations
        is_declared = annotations is not None and annotations.open_world is True
        return is_declared or self.has_read_untrusted or self.has_opened_untrusted

    @property
    def account(self) -> str:
        """Whose share of limited room it uses: that of the outermost call that the user did not make themselves."""
        accounts = [call.request.account for call in (self, *self.ancestors())]
        return next((account for account in reversed(accounts) if account != USER_ACCOUNT), USER_ACCOUNT)

    @property
    def artifact_account(self) -> str:
        """Whose quota its artifacts take: that of a client, a mounted server or another machine; empty: the user's."""
        account = self.account
        if account.startswith(("mcp:", "client:", "host:")):
            return account
        module = None if self.prepared is None else self.prepared.tool.module
        if module is not None and module.host:
            return f"host:{module.host}"
        return f"module:{module.name}" if module is not None and module.manifest.definitions_need_review else ""

    @property
    def is_made_by_user(self) -> bool:
        """Whether a person makes it, and no model."""
        return self.request.principal.kind in PERSONS

    @property
    def is_notified_by_parent(self) -> bool:
        """Whether whoever is told of it knows it as part of another call, which they were told of."""
        return self.parent is not None and self.parent.notify is self.notify

    def report_decision(self, *, asks: bool) -> None:
        """Tell the caller whether a person is asked about it, and what its tool says in words that it would do."""
        if self.notify is not None and not self.is_notified_by_parent:
            preview = None if self.prepared is None else self.prepared.preview
            words = {"words": preview.words} if preview is not None and preview.words else {}
            self.notify("decided", {"callId": self.id, "asks": asks, **words})

    def is_inside_turn_of(self, resource: Resource) -> bool:
        """Whether a call that made it acts on this resource."""
        found = [parent.resource for parent in self.ancestors()]
        return any(each is not None and each.resource_id == resource.resource_id for each in found)

    def ancestors(self) -> "Iterator[Call]":
        """The call that made it, the one that made that, and so on."""
        call = self.parent
        while call is not None:
            yield call
            call = call.parent


@contextmanager
def pause_clock(call: Call | None) -> Iterator[None]:
    """Stop the clock of a call, and of those that made it, while a person is waited for."""
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
