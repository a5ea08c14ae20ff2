"""Routes for chat sessions, as the page uses them; what happens in a session is sent as `session.*` events."""

from http import HTTPStatus
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from agentcore.approval_rules.decisions import ApprovalMode
from agentcore.chat.chat_limits import (
    ANSWER_CHARS,
    MESSAGE_CHARS,
    MESSAGES_LISTED,
    OWN_INSTRUCTIONS_CHARS,
    SESSIONS_LISTED,
    TITLE_CHARS,
    TODO_CHARS,
    TODOS,
)
from agentcore.chat.client_messages import Attachments
from agentcore.chat.session.session_view import MessagesView, SessionDetail, SessionsView
from agentcore.chat.sessions import Sessions, clean_title
from agentcore.chat.system_message import SystemMessages, SystemView
from agentcore.core.approvals.policy_changes import Proposal
from agentcore.core.calls.chat_protocols import Reply
from agentcore.core.calls.question_form import FIELDS
from agentcore.core.policy.authority import check_mode_change, find_reach, owner_of
from agentcore.encoding import to_json
from agentcore.errors import ToolError
from agentcore.server.body_models import StrictWireModel
from agentcore.server.confirmation import change_policy
from agentcore.server.exchange import Exchange
from agentcore.server.http.response import Answer
from agentcore.server.http.server_limits import NUMBER_MAX
from agentcore.server.route_table import ServerRoute
from agentcore.server.routes.tools import HostName

AgentId = Annotated[str, Field(min_length=1, max_length=64)]
ModelName = Annotated[str, Field(max_length=200, description="`provider:model`, or a name of app.json.")]
Text = Annotated[str, Field(min_length=1, max_length=MESSAGE_CHARS)]


class SessionsQuery(StrictWireModel):
    """Which sessions are wanted."""

    q: Annotated[str, Field(max_length=200, description="Words of the title, or of what was said.")] = ""
    limit: Annotated[int, Field(ge=1, le=SESSIONS_LISTED)] = 100
    before: Annotated[
        str | None, Field(max_length=64, description="Id of the last session of the page before this one.")
    ] = None


class MessagesQuery(StrictWireModel):
    """Which messages are wanted: the newest, or those before a number."""

    before: Annotated[int | None, Field(ge=1, le=NUMBER_MAX, description="Only messages below this number.")] = None
    limit: Annotated[int, Field(ge=1, le=MESSAGES_LISTED)] = 50


class NewSession(StrictWireModel):
    """A session to make."""

    agent_id: AgentId = "default"
    model: ModelName = ""
    mode: ApprovalMode | None = None
    host: Annotated[HostName | None, Field(description="As in `PATCH /api/sessions/{session_id}`.")] = None
    user_id: Annotated[str, Field(max_length=256)] = ""


class TodoChange(StrictWireModel):
    """One thing to do."""

    content: Annotated[str, Field(min_length=1, max_length=TODO_CHARS)]
    status: Literal["pending", "in_progress", "completed"] = "pending"


class SessionChange(StrictWireModel):
    """What to change of a session; a model, a mode or a host of null goes back to the agent's."""

    title: Annotated[str | None, Field(max_length=TITLE_CHARS)] = None
    agent_id: AgentId | None = None
    model: ModelName | None = None
    mode: ApprovalMode | None = None
    host: Annotated[HostName | None, Field(description="That its calls go to from now on; empty: the server.")] = None
    todos: Annotated[
        list[TodoChange] | None, Field(max_length=TODOS, description="The whole to-do list; ids are numbers from 1.")
    ] = None


class SystemChange(StrictWireModel):
    """What to change of what a session's model is told before the conversation; what is left out stays."""

    told: Annotated[
        dict[Annotated[str, Field(max_length=128)], bool | None],
        Field(
            default_factory=dict,
            max_length=100,
            description="Whether parts are told, by their ids; null: as the agent says.",
        ),
    ]
    instructions: Annotated[
        str | None,
        Field(max_length=OWN_INSTRUCTIONS_CHARS, description="In place of the agent's; null: the agent's."),
    ] = None


class Edited(StrictWireModel):
    """Another text in the place of a message; what came after it is forgotten."""

    number: Annotated[int, Field(ge=1, le=NUMBER_MAX)]
    text: Text
    attachments: Annotated[Attachments | None, Field(description="Left out: those that the message had.")] = None


class RetryQuery(StrictWireModel):
    """How the last message is answered again."""

    writes_calls: Annotated[
        bool,
        Field(
            description="The chat's model writes its calls as text from now on, because its server gives it no tools."
        ),
    ] = False


class Command(BaseModel, defer_build=True, extra="forbid", frozen=True):
    """A call of the person's own."""

    tool: Annotated[str, Field(min_length=1, max_length=64)]
    arguments: dict[str, Any] = {}


class QuestionAnswer(StrictWireModel):
    """What the person says to a question."""

    question_id: Annotated[str, Field(max_length=64)]
    text: Annotated[str, Field(max_length=ANSWER_CHARS, description="The answer in words.")] = ""
    content: Annotated[
        dict[str, Any] | None, Field(max_length=FIELDS, description="What a form was filled in with, by field.")
    ] = None
    is_declined: Annotated[bool, Field(description="The person wants to give no answer.")] = False


class CallName(StrictWireModel):
    """One call of the session."""

    tool_id: Annotated[str, Field(max_length=64)]


class Accepted(BaseModel, defer_build=True):
    """It was taken; events tell the rest."""

    accepted: bool


class CommandAccepted(Accepted):
    """The call was taken; events tell how it goes."""

    toolId: str  # noqa: N815 - the name on the wire


class StoppedTurns(BaseModel, defer_build=True):
    """How many turns went on."""

    stopped: int


class Done(BaseModel, defer_build=True):
    """It was done."""

    ok: bool


async def list_sessions(exchange: Exchange) -> Answer:
    """Send sessions, the most recently used first."""
    query: SessionsQuery = exchange.query
    owner = owner_of(exchange.principal) if find_reach(exchange.principal, "follow") == "own" else None
    found = await _get_sessions(exchange).list_sessions(
        text=query.q, limit=query.limit, before=query.before, owner=owner
    )
    return _json_answer(found.to_json())


async def make_session(exchange: Exchange) -> Answer:
    """Create a session; the server chooses its id."""
    body: NewSession = exchange.body
    if body.mode is not None:
        before = _get_sessions(exchange).find_effective_mode(None, body.agent_id)
        _check_first_mode(exchange, before, body.mode)
    chosen = {name: getattr(body, name) for name in ("agent_id", "model", "mode", "user_id", "host")}
    made = await _get_sessions(exchange).create_session(exchange.principal, **chosen)
    return _json_answer(made.to_json(), HTTPStatus.CREATED)


def _check_first_mode(exchange: Exchange, before: ApprovalMode, mode: ApprovalMode) -> None:
    """Refuse a looser mode for a new session and explain how to set it: a confirmation needs a session that exists."""
    try:
        check_mode_change(exchange.principal, before, mode, owner_of(exchange.principal))
    except ToolError as exc:
        if exc.type != "confirmation_required":
            raise
        raise ToolError(
            exc.type,
            f"mode {mode!r} asks less than {before!r}, which a person confirms, and nothing was made: make the session "
            "without a mode and change it then, which waits in the approval view",
            action="change_policy",
            mode=mode,
        ) from exc


async def show_session(exchange: Exchange) -> Answer:
    """Send one session."""
    return _json_answer((await _get_sessions(exchange).describe_session(_session_id(exchange))).to_json())


async def change_session(exchange: Exchange) -> Answer:
    """Change a session and send its new state."""
    body: SessionChange = exchange.body
    values = {name: getattr(body, name) or "" for name in body.model_fields_set - {"mode", "host", "todos"}}
    if "title" in values:
        values["title"] = clean_title(body.title or "")
    if "agent_id" in values:
        values["agent_id"] = body.agent_id or "default"
    session_id = _session_id(exchange)
    if "host" in body.model_fields_set:
        await _get_sessions(exchange).change_host(session_id, body.host, exchange.principal)
    if body.todos is not None:
        todos = [{"id": str(number), **todo.model_dump()} for number, todo in enumerate(body.todos, 1)]
        await _get_sessions(exchange).change_todos(session_id, todos)
    changed = await _get_sessions(exchange).change_session(session_id, values)
    if "mode" in body.model_fields_set:
        changed = await _change_mode(exchange, changed, body.mode)
    return _json_answer(changed.to_json())


async def _change_mode(exchange: Exchange, session: SessionDetail, mode: str | None) -> SessionDetail:
    """Set the mode; the user must confirm one that asks less than the effective mode."""
    sessions = _get_sessions(exchange)
    owner = owner_of(exchange.principal)  # authorised for this one, if it reaches only its own
    after = sessions.find_effective_mode(mode, session.agent_id)

    async def apply_as_shown() -> None:
        # not the agent's mode at that time, which may differ from what the user confirmed
        await sessions.change_session(session.session_id, {"mode": after})

    try:
        check_mode_change(exchange.principal, session.mode, after, owner)
    except ToolError:
        diff = f"-mode: {session.mode}\n+mode: {after}\n"
        title = session.title or "a chat without a title"
        proposal = Proposal("session_mode", title, ("/mode",), ((title, diff),), session_id=session.session_id)
        await change_policy(exchange.core.policy_changes, exchange.principal, proposal, apply_as_shown, owner)
    else:
        await sessions.change_session(session.session_id, {"mode": mode})
    return await sessions.describe_session(session.session_id)


async def show_system(exchange: Exchange) -> Answer:
    """Send the system message of a session, part by part."""
    return _json_answer((await _get_system_messages(exchange).describe_for_session(_session_id(exchange))).to_json())


async def change_system(exchange: Exchange) -> Answer:
    """Change the system message of a session and send its new state."""
    body: SystemChange = exchange.body
    own = {"instructions": body.instructions} if "instructions" in body.model_fields_set else {}
    return _json_answer(
        (
            await _get_system_messages(exchange).change_for_session(_session_id(exchange), told=body.told, **own)
        ).to_json()
    )


async def delete_session(exchange: Exchange) -> Answer:
    """Stop what runs in a session and delete it."""
    await _get_sessions(exchange).delete_session(_session_id(exchange))
    return _json_answer({"ok": True})


async def list_messages(exchange: Exchange) -> Answer:
    """Send the messages of a session."""
    query: MessagesQuery = exchange.query
    found = await _get_sessions(exchange).list_messages(_session_id(exchange), before=query.before, limit=query.limit)
    return _json_answer(found.to_json())


async def edit_message(exchange: Exchange) -> Answer:
    """Replace an earlier message and start a new answer from there."""
    body: Edited = exchange.body
    await _get_sessions(exchange).edit_message(
        _session_id(exchange), body.number, body.text, exchange.principal, body.attachments
    )
    return _json_answer({"accepted": True}, HTTPStatus.ACCEPTED)


async def retry_turn(exchange: Exchange) -> Answer:
    """Discard the last answer and start a new one."""
    query: RetryQuery = exchange.query
    await _get_sessions(exchange).retry_answer(_session_id(exchange), writes_calls=query.writes_calls)
    return _json_answer({"accepted": True}, HTTPStatus.ACCEPTED)


async def stop_session(exchange: Exchange) -> Answer:
    """Stop the turn of a session, and respond once everything has settled."""
    return _json_answer({"stopped": await _get_sessions(exchange).stop_turn(_session_id(exchange))})


async def reject_call(exchange: Exchange) -> Answer:
    """Reject a call that waits for approval."""
    body: CallName = exchange.body
    await _get_sessions(exchange).answer_call(
        _session_id(exchange), body.tool_id, exchange.principal, is_approved=False
    )
    return _json_answer({"accepted": True}, HTTPStatus.ACCEPTED)


async def answer_question(exchange: Exchange) -> Answer:
    """Answer a question of a tool."""
    body: QuestionAnswer = exchange.body
    reply = Reply(body.text, body.content, body.is_declined)
    await _get_sessions(exchange).answer_question(_session_id(exchange), body.question_id, reply)
    return _json_answer({"accepted": True}, HTTPStatus.ACCEPTED)


async def run_command(exchange: Exchange) -> Answer:
    """Run a call that the user entered."""
    body: Command = exchange.body
    tool_id = await _get_sessions(exchange).start_user_call(
        _session_id(exchange), body.tool, body.arguments, exchange.principal
    )
    return _json_answer({"accepted": True, "toolId": tool_id}, HTTPStatus.ACCEPTED)


def _get_sessions(exchange: Exchange) -> Sessions:
    return exchange.parts.chat.sessions


def _get_system_messages(exchange: Exchange) -> SystemMessages:
    return exchange.parts.chat.system_messages


def _session_id(exchange: Exchange) -> str:
    return exchange.path_values["session_id"]


def _json_answer(document: dict[str, Any], status: HTTPStatus = HTTPStatus.OK) -> Answer:
    return Answer(to_json(document), status)


_ONE = "/api/sessions/{session_id}"

ROUTES = (
    ServerRoute(
        "GET",
        "/api/sessions",
        list_sessions,
        "Chat sessions, searched.",
        action="follow",
        keeps_to_own=True,
        query=SessionsQuery,
        answer=SessionsView,
        is_for_extensions=True,
    ),
    ServerRoute(
        "POST",
        "/api/sessions",
        make_session,
        "Make a chat session.",
        action="converse",
        keeps_to_own=True,
        body=NewSession,
        answer=SessionDetail,
        is_for_extensions=True,
    ),
    ServerRoute(
        "GET", _ONE, show_session, "A chat session.", action="follow", answer=SessionDetail, is_for_extensions=True
    ),
    ServerRoute(
        "PATCH",
        _ONE,
        change_session,
        "Change title, model, agent, approval mode, host or to-do list of a session; the host is a person's to choose.",
        action="converse",
        body=SessionChange,
        answer=SessionDetail,
        is_for_extensions=True,
    ),
    ServerRoute(
        "GET",
        f"{_ONE}/system",
        show_system,
        "What the model of a session is told before the conversation, part by part.",
        action="follow",
        answer=SystemView,
        is_for_extensions=True,
    ),
    ServerRoute(
        "PATCH",
        f"{_ONE}/system",
        change_system,
        "Leave parts of that out, or write other instructions for this session; counts from the next message on.",
        action="call",
        body=SystemChange,
        answer=SystemView,
    ),
    ServerRoute(
        "DELETE", _ONE, delete_session, "Forget a session.", action="converse", answer=Done, is_for_extensions=True
    ),
    ServerRoute(
        "GET",
        f"{_ONE}/messages",
        list_messages,
        "What was said in a session, the newest page first, each page oldest first.",
        action="follow",
        query=MessagesQuery,
        answer=MessagesView,
        is_for_extensions=True,
    ),
    ServerRoute(
        "POST",
        f"{_ONE}/edit",
        edit_message,
        "Say something else in place of an earlier message; what came after it ends, and is forgotten.",
        action="converse",
        body=Edited,
        answer=Accepted,
        is_for_extensions=True,
    ),
    ServerRoute(
        "POST",
        f"{_ONE}/retry",
        retry_turn,
        "Have the last message answered again.",
        action="converse",
        query=RetryQuery,
        answer=Accepted,
        is_for_extensions=True,
    ),
    ServerRoute(
        "POST",
        f"{_ONE}/stop",
        stop_session,
        "End the turn of a session now, with its calls; what had come is kept, and messages that wait are held.",
        action="converse",
        answer=StoppedTurns,
        is_for_extensions=True,
    ),
    ServerRoute(
        "POST",
        f"{_ONE}/reject",
        reject_call,
        "Refuse a call that waits.",
        action="converse",
        body=CallName,
        answer=Accepted,
        is_for_extensions=True,
    ),
    ServerRoute(
        "POST",
        f"{_ONE}/answer",
        answer_question,
        "Answer what a tool asks.",
        action="converse",
        body=QuestionAnswer,
        answer=Accepted,
        is_for_extensions=True,
    ),
    ServerRoute(
        "POST",
        f"{_ONE}/command",
        run_command,
        "Carry out a call of the person's own, which stays in the session with its result.",
        action="call",
        body=Command,
        answer=CommandAccepted,
    ),
)
