"""Pending calls and changes as the approval view shows them: complete, because the decision depends on it."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from agentcore.api import Principal
from agentcore.approval_rules.criteria import Touched, list_touched
from agentcore.approval_rules.data_loss import may_lose_something
from agentcore.chat.session.session_view import QuestionView
from agentcore.core.approvals.client_pairings import Pairing
from agentcore.core.approvals.policy_changes import PolicyChange
from agentcore.core.approvals.request import ApprovalRequest, Changed
from agentcore.core.modules.host_protocols import ModuleHosts
from agentcore.core.modules.tool_registry import ToolRegistry
from agentcore.server.body_models import WireModel
from agentcore.server.modules.host_views import host_of
from agentcore.server.modules.translation_views import ToolTexts, title_of, translations_of
from agentcore.store.chat.chat_store import ChatStore


class AskerView(WireModel):
    """Who wants something. `name` is what a person calls it: the title of a chat, the name of a paired client."""

    kind: str
    id: str
    name: str


class PreviewView(WireModel):
    """What a call would do, for exactly its arguments. `diff` is a unified diff of what it would write, `words`
    what it would do, a line for each step, in the place of its arguments."""

    paths: list[str]
    cwd: str | None
    urls: list[str]
    diff: str | None
    words: str
    is_protected: bool


class OfferView(WireModel):
    """What may be allowed for later calls along with this one: calls of a tool whose arguments match these patterns."""

    scope: str
    tool: str
    arguments: dict[str, str]


class WaitingCall(WireModel):
    """One call that waits. `digest` stands for the exact arguments: who approves sends it back.

    `touches` is what it would touch, as its preview says, by kind of criterion and for people to read. `session_title`
    is empty for a session that is no chat, or has no title yet.
    """

    call_id: str
    session_id: str
    session_title: str
    asked_by: AskerView
    tool: str
    description: str
    module: str
    module_title: str
    host: str
    """The host in which it would run; empty: it runs in the server."""
    is_on_other_machine: bool
    """True if that is another machine."""
    effects: list[str]
    is_destructive: bool
    reason: str
    rule: str
    untrusted_source: str | None
    offers: list[OfferView]
    arguments: dict[str, Any]
    input_schema: dict[str, Any]
    translations: dict[str, ToolTexts]
    digest: str
    preview: PreviewView | None
    touches: list[Touched]
    changes: list[Changed]
    """Changes while it waited, which require a new decision."""
    requested_at: int
    expires_at: None
    """Always null: a call waits as long as its session."""


class WaitingQuestion(WireModel):
    """One question of a tool that waits; `asked_by` is its module, `host` the machine that asks, if it is another."""

    question_id: str
    session_id: str
    session_title: str
    kind: str
    text: str
    asked_by: str
    host: str
    options: list[str] | None
    form: dict[str, Any] | None
    url: str | None
    requested_at: int
    expires_at: int | None


class FileDiff(WireModel):
    """What changes in one file, with secrets masked."""

    file: str
    text: str


class WaitingChange(WireModel):
    """One change of what is allowed that waits.

    `subject` is what it is about; of a chat its title, which is empty if it has none. `reading_tools` are tools that
    their server says only read, and which may be treated as reading along with the decision.
    """

    change_id: str
    kind: str
    subject: str
    paths: list[str]
    diff: list[FileDiff]
    reading_tools: list[str]
    asked_by: AskerView
    requested_at: int
    expires_at: int | None
    """None: it waits as long as the server runs."""


class WaitingPairing(WireModel):
    """One client that wants to be paired, as it describes itself; `scopes` are those that it would like to have.

    `origin` is the web origin that its request came from; empty for programs.
    """

    pairing_id: str
    name: str
    kind: str
    origin: str
    scopes: list[str]
    requested_at: int
    expires_at: int


class Waiting(WireModel):
    """All that waits for a person, oldest first, and the server's time in milliseconds since 1970."""

    calls: list[WaitingCall]
    changes: list[WaitingChange]
    pairings: list[WaitingPairing]
    questions: list[WaitingQuestion]
    now: int


async def titles_of(
    chats: ChatStore, requests: Sequence[ApprovalRequest | PolicyChange], sessions: Collection[str] = ()
) -> Mapping[str, str]:
    """Return the titles of the chats that made the requests, and of other sessions, by their ids."""
    ids = {request.principal.id for request in requests if request.principal.kind == "chat"}
    ids.update(_session_of(request) for request in requests)
    ids.update(sessions)
    return await chats.load_titles(ids)


def _session_of(request: ApprovalRequest | PolicyChange) -> str:
    return request.session_id if isinstance(request, ApprovalRequest) else request.proposal.session_id


def waiting_question(session_id: str, question: QuestionView, titles: Mapping[str, str]) -> WaitingQuestion:
    """Return one question with what its answer depends on."""
    return WaitingQuestion(
        session_id=session_id,
        session_title=titles.get(session_id, ""),
        **question.model_dump(exclude={"tool_id"}),
    )


def waiting_call(
    request: ApprovalRequest, registry: ToolRegistry, places: ModuleHosts, titles: Mapping[str, str]
) -> WaitingCall:
    """Return one call with everything that a decision depends on.

    Args:
        registry: Has its tool.
        places: Where modules run.
        titles: From `titles_of`.
    """
    definition = request.definition
    preview = request.preview
    tool = registry.tools_at(request.host).get(definition.name)
    record = None if tool is None else tool.module
    effects = definition.effects if preview is None or preview.effects is None else preview.effects
    return WaitingCall(
        call_id=request.call_id,
        session_id=request.session_id,
        session_title=titles.get(request.session_id, ""),
        asked_by=_describe_asker(request.principal, titles),
        tool=definition.name,
        description=definition.description,
        module="" if record is None else record.name,
        module_title="" if record is None else title_of(record),
        host=request.host or ("" if record is None else host_of(places, record.name)),
        is_on_other_machine=bool(request.host),
        effects=sorted(effects),
        is_destructive=may_lose_something(request.facts),
        reason=request.reason,
        rule=request.rule,
        untrusted_source=request.untrusted_source,
        offers=[OfferView(**offer.to_json()) for offer in request.offers],
        arguments=request.arguments,
        input_schema=definition.input_schema,
        translations={} if tool is None else translations_of(registry, tool),
        digest=request.digest,
        preview=None if preview is None else PreviewView.model_validate(preview, from_attributes=True),
        touches=[] if preview is None else list_touched(request.facts),
        changes=list(request.changes),
        requested_at=request.requested_at_ms,
        expires_at=None,
    )


def waiting_change(change: PolicyChange, titles: Mapping[str, str]) -> WaitingChange:
    """Return one change with its diff."""
    proposal = change.proposal
    return WaitingChange(
        change_id=change.change_id,
        kind=proposal.kind,
        subject=titles.get(proposal.session_id, "") if proposal.session_id else proposal.subject,
        paths=list(proposal.paths),
        diff=[FileDiff(file=file, text=text) for file, text in proposal.diff],
        reading_tools=list(proposal.reading_tools),
        asked_by=_describe_asker(change.principal, titles),
        requested_at=change.requested_at_ms,
        expires_at=change.expires_at_ms,
    )


def waiting_pairing(pairing: Pairing) -> WaitingPairing:
    """Return one client that waits to be paired."""
    request = pairing.request
    return WaitingPairing(
        pairing_id=pairing.pairing_id,
        name=request.name,
        kind=request.kind,
        origin=request.origin,
        scopes=sorted(request.scopes),
        requested_at=pairing.requested_at_ms,
        expires_at=pairing.expires_at_ms,
    )


def _describe_asker(principal: Principal, titles: Mapping[str, str]) -> AskerView:
    name = {"chat": titles.get(principal.id, ""), "page": ""}.get(principal.kind, principal.id)
    return AskerView(kind=principal.kind, id=principal.id, name=name)
