"""The sessions of a chat: the one service through which every surface reads, sends, stops and answers."""

import asyncio
import json
import secrets
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Literal, NamedTuple

from agentcore.api import Principal
from agentcore.approval_rules.decisions import ApprovalMode
from agentcore.chat.chat_limits import QUEUED_CHARS, QUEUED_MESSAGES, TITLE_CHARS, TODOS, TODOS_BYTES
from agentcore.chat.client_context import dump_client_tools, dump_page
from agentcore.chat.client_messages import ClientTool, PageInfo
from agentcore.chat.session import transcript
from agentcore.chat.session.event_stream import Stream
from agentcore.chat.session.message_queue import publish_queue, queue_view
from agentcore.chat.session.model_scales import ModelScales
from agentcore.chat.session.progress import turn_view
from agentcore.chat.session.session_view import (
    ContextView,
    MessagesView,
    MessageView,
    QuestionView,
    QueueView,
    SessionDetail,
    SessionsView,
    SessionView,
    StreamingView,
    TurnView,
    UsageView,
)
from agentcore.chat.settings import ChatSettings
from agentcore.chat.texts import localized_text, result_text
from agentcore.chat.turn.call_answers import CallAnswers
from agentcore.chat.turn.prompts import page_source
from agentcore.chat.turn.turns import Turns, Work
from agentcore.chat.turn.user_call import UserCall
from agentcore.core.calls.chat_protocols import Reply
from agentcore.core.core import Core
from agentcore.core.event_types import ENVELOPE
from agentcore.core.policy.authority import PERSONS, client_in, find_reach, owner_of
from agentcore.errors import ToolError
from agentcore.store.chat.chat_rows import ChatCallRow, ChatMessageRow, ChatSessionRow, NewMessage, UsedTokens
from agentcore.store.chat.message_queue import MessageTime, UserMessage
from agentcore.valid_text import with_valid_text

SentState = Literal["started", "queued", "steering"]
"""State of a sent message: its turn has started, it waits for its turn, or it joins the turn's next request."""


class AnsweringClient(NamedTuple):
    """A client that answers a call, and waits for the events that follow.

    Args:
        stream: Receives the events.
        page: The page that the user looks at, for the rest of the turn; None: unchanged.
        client_tools: The tools that the client runs, for the rest of the turn; None: unchanged.
        model: The model to use from now on; empty: unchanged.
    """

    stream: Stream
    page: PageInfo | None = None
    client_tools: Sequence[ClientTool] | None = None
    model: str = ""


class Sessions:
    """All chat sessions of a core.

    Whatever starts or continues a turn does so under the session's one lock (`LiveSession.turn`).

    Args:
        core: Stores the sessions, and runs the calls.
        turns: Runs the turns.
        answers: Records answers to calls.
        settings: Returns the current models and agents.
    """

    def __init__(self, core: Core, turns: Turns, answers: CallAnswers, settings: Callable[[], ChatSettings]) -> None:
        self._core = core
        self._chats = core.store.chats
        self._turns = turns
        self._answers = answers
        self._settings = settings
        turns.on_rest = self._start_next_soon

    # -- reading ---------------------------------------------------------------------------------------------------

    async def find_session(self, session_id: str) -> ChatSessionRow:
        """Return a session as stored.

        Raises:
            ToolError: `session_not_found`.
        """
        row = await self._chats.find_session(session_id)
        if row is None:
            raise ToolError("session_not_found", f"there is no session {session_id!r}", session_id=session_id)
        return row

    async def list_sessions(
        self, *, text: str, limit: int, before: str | None, owner: str | None = None
    ) -> SessionsView:
        """List sessions, the last used first; with an owner, only those that it created."""
        rows = await self._chats.list_sessions(text=text, limit=limit + 1, before=before, owner=owner)
        shown = rows[:limit]
        waiting = await self._chats.load_waiting_calls(row.session_id for row in shown)
        views = [self._build_session_view(row, self._list_waiting_calls(row, waiting)) for row in shown]
        return SessionsView(sessions=views, has_more=len(rows) > limit)

    async def describe_session(self, session_id: str) -> SessionDetail:
        """Return the details of a session.

        Raises:
            ToolError: `session_not_found`.
        """
        row = await self.find_session(session_id)
        waiting = await self._chats.load_waiting_calls([session_id])
        live = self._turns.live.find(session_id)
        return SessionDetail(
            **dict(self._build_session_view(row, self._list_waiting_calls(row, waiting))),
            todos=json.loads(row.todos or "[]"),
            question=None if live is None else live.questions.first,
            usage=UsageView(**{name: getattr(row, name) for name in UsedTokens._fields}),
            context=None if row.context is None else ContextView.model_validate_json(row.context),
            turn=self._describe_turn(row),
        )

    def _describe_turn(self, row: ChatSessionRow) -> TurnView | None:
        """Return how much of its limits a session's turn has used; None: no model was asked, or its agent is gone."""
        agent = self._settings().agents.get(row.agent_id)
        return None if agent is None or not row.steps else turn_view(agent, row.steps, row.tokens, row.worked_ms)

    async def list_messages(self, session_id: str, *, before: int | None, limit: int) -> MessagesView:
        """Return messages of a session, and the id of the last event that they include.

        Raises:
            ToolError: `session_not_found`.
        """
        session = await self.find_session(session_id)
        live = self._turns.live.get_or_create(session_id)
        async with live.storing:
            rows = await self._chats.load_history(session_id, before=before, limit=limit + 1)
            calls = await self._chats.load_calls(session_id, transcript.list_call_ids(rows))
            # the core's id of a call without approval is stored only when it ends; a page needs it to follow the call
            for call_id, tool_id in live.tool_ids.items():
                if (call := calls.get(tool_id)) is not None and not call.call_id:
                    calls[tool_id] = call._replace(call_id=call_id)
            streaming = StreamingView(text=live.text, thinking=live.thinking)
            event_id = self._core.events.last_id
        if session_id not in self._turns.busy_sessions:
            self._turns.live.remove_if_idle(session_id)
        shown = rows[-limit:]
        return MessagesView(
            items=transcript.to_messages(shown, calls, live.commands, client_in(session.owner)),
            has_more=len(rows) > limit,
            streaming=streaming if streaming.text or streaming.thinking else None,
            model_wait=live.model_wait,
            event_id=event_id,
        )

    async def load_transcript(self, session_id: str) -> list[MessageView]:
        """Return all messages of a session."""
        rows = await self._chats.load_history(session_id)
        calls = await self._chats.load_calls(session_id, transcript.list_call_ids(rows))
        live = self._turns.live.find(session_id)
        return transcript.to_messages(rows, calls, frozenset() if live is None else live.commands)

    async def describe_queue(self, session_id: str) -> QueueView:
        """Return the waiting messages.

        Raises:
            ToolError: `session_not_found`.
        """
        await self.find_session(session_id)
        return await queue_view(self._chats, session_id)

    def find_effective_mode(self, own: str | None, agent_id: str) -> ApprovalMode:
        """Return the mode in effect for a session, from its own mode (None: it has none) and its agent."""
        return self._settings().mode_for(own, agent_id) or self._core.policy.mode

    # -- sessions --------------------------------------------------------------------------------------------------

    async def create_session(
        self,
        by: Principal,
        *,
        agent_id: str,
        model: str,
        mode: str | None,
        user_id: str = "",
        host: str | None = None,
    ) -> SessionDetail:
        """Create a session with an id chosen by the server.

        Raises:
            ToolError: `agent_not_found`, `host_not_found`, `forbidden`.
        """
        self._settings().get_agent(agent_id)
        if host is not None:
            self._check_host(by, host)
        row = await self._chats.get_or_create(
            f"s_{secrets.token_hex(12)}",
            owner=owner_of(by),
            user_id=user_id,
            agent_id=agent_id,
            model=model,
            mode=mode,
            host=host,
        )
        return await self.describe_session(row.session_id)

    async def find_or_create_session(
        self, session_id: str, by: Principal, *, user_id: str, agent_id: str, model: str
    ) -> ChatSessionRow:
        """Return the session with an id that a client has chosen; if there is none, create it for this client."""
        session = await self._chats.find_session(session_id)
        return session or await self._chats.get_or_create(
            session_id, owner=owner_of(by), user_id=user_id, agent_id=agent_id, model=model
        )

    async def change_session(self, session_id: str, values: Mapping[str, str | None]) -> SessionDetail:
        """Change title, model, agent, mode or host (columns of the session).

        Raises:
            ToolError: `session_not_found`, `agent_not_found`, `model_not_found`.
        """
        row = await self.find_session(session_id)
        settings = self._settings()
        agent = settings.get_agent(values.get("agent_id") or row.agent_id)
        if values.get("model"):
            settings.choose_model(values["model"], agent)
        if values:
            await self._chats.update_session(session_id, **values)
        live = self._turns.live.find(session_id)
        if "mode" in values:
            # for running tasks and waiting calls as well, as the row is now: another request may have changed it too.
            # The mode of another agent, which nobody confirms, applies from the next message on.
            row = await self.find_session(session_id)
            mode = self._settings().mode_for(row.mode, row.agent_id)
            self._core.policy.set_session_mode(session_id, mode)
        if live is not None and "host" in values:
            live.hosts = settings.hosts_for(values["host"], live.agent_id or row.agent_id)
        changed = await self.describe_session(session_id)
        event = {name: value for name, value in changed.to_json().items() if name not in ENVELOPE}
        self._publish(session_id, "session.changed", event)
        if "mode" in values:
            await self._core.call_review.decide_waiting_calls(session_id)
        return changed

    async def change_todos(self, session_id: str, todos: Sequence[Mapping[str, Any]]) -> None:
        """Replace a session's to-do list, and publish it.

        Raises:
            ToolError: `session_not_found`; `invalid_arguments`: too many, or too long.
        """
        await self.find_session(session_id)
        kept = [with_valid_text(dict(todo)) for todo in todos]
        stored = json.dumps(kept, ensure_ascii=False)
        if len(kept) > TODOS or len(stored.encode()) > TODOS_BYTES:
            message = f"at most {TODOS} things to do, {TODOS_BYTES:,} bytes in all; there are {len(kept)}"
            raise ToolError("invalid_arguments", message, limit=TODOS)
        await self._chats.update_session(session_id, todos=stored)
        if (live := self._turns.live.find(session_id)) is not None:
            live.todos = kept
        self._core.events.publish("session.todos", {"todos": kept}, session_id=session_id)

    async def change_host(self, session_id: str, host: str | None, by: Principal) -> SessionDetail:
        """Send the calls of a session to a host from now on, including those of the running turn.

        Args:
            session_id: The session.
            host: The host; empty: the server; None: as the agent says.
            by: Who requests it.
        Raises:
            ToolError: `session_not_found`, `host_not_found`; `forbidden`: only a user may.
        """
        self._check_host(by, host)
        return await self.change_session(session_id, {"host": host})

    def _check_host(self, by: Principal, host: str | None) -> None:
        if by.kind not in PERSONS:
            raise ToolError("forbidden", f"a {by.kind} cannot say on which machine calls run: a person does")
        if host and not self._core.registry.knows_host(host):
            raise self._core.registry.host_not_found(host)

    async def delete_session(self, session_id: str) -> None:
        """Stop a session's tasks, close what it has open, and delete it. What is pinned or keeps running remains.

        Raises:
            ToolError: `session_not_found`.
        """
        await self.find_session(session_id)
        await self._turns.stop_and_wait(session_id)
        await self._chats.delete_session(session_id)
        await self._core.end_session(session_id)
        self._publish(session_id, "session.deleted", {})

    # -- messages and turns ------------------------------------------------------------------------------------------

    async def send_message(self, session_id: str, message: UserMessage, by: Principal) -> tuple[str, SentState]:
        """Accept a user message: start its turn, or queue it. Return its id and its state.

        Its effects are published as events. A paused queue resumes with it.

        Args:
            session_id: The session.
            message: The message.
            by: Who sends it; the attachments must belong to them.
        Raises:
            ToolError: `session_not_found`, `forbidden`, `queue_full`, `agent_not_found`, `model_not_found`,
                `model_not_configured`, `artifact_not_found`, `attachments_full`.
        """
        await self._check_message(session_id, message, by)
        message_id = f"m_{secrets.token_hex(8)}"
        if await self._start_message(session_id, message, by) is not None:
            return message_id, "started"
        queued = message._replace(message_id=message_id, created_at_ms=time.time_ns() // 1_000_000)
        await self._enqueue_message(session_id, queued, by)
        # it starts now if the turn has ended meanwhile
        await self._start_next(session_id)
        waiting = (await self._chats.queue.load_queue(session_id)).messages
        if all(each.message_id != message_id for each in waiting):
            return message_id, "started"
        return message_id, "steering" if message.when == "steer" else "queued"

    async def stream_message(
        self, session_id: str, message: UserMessage, by: Principal, stream: Stream
    ) -> asyncio.Task[object]:
        """Start the turn of a user message now, for a client that waits for its events; return the turn.

        Calls that wait are rejected as superseded.

        Args:
            session_id: The session.
            message: The message.
            by: Who sends it.
            stream: Receives the events.
        Raises:
            ToolError: `session_busy`: a turn is running; and as `send_message`.
        """
        await self._check_message(session_id, message, by)
        turn = await self._start_message(session_id, message._replace(when="steer"), by, stream)
        if turn is None:
            error = "the session answers another message; wait for its end, or stop it"
            raise ToolError("session_busy", error, retryable=True)
        return turn

    async def edit_message(
        self, session_id: str, number: int, message: str, by: Principal, attachments: Sequence[str] | None = None
    ) -> None:
        """Rewind to a user message, and send another one in its place.

        Args:
            session_id: The session.
            number: The message.
            message: The new text.
            by: Who sends it.
            attachments: Ids of artifacts; None: those of the old message.
        Raises:
            ToolError: `session_not_found`, `message_not_found`, `agent_not_found`, `model_not_found`,
                `model_not_configured`.
        """
        row = await self._find_user_message(session_id, number)
        if attachments is None:
            attachments = [view.artifact_id for view in transcript.attachments_of(row)]
        await self._pin_attachments(session_id, attachments, by)
        brought = await self._chats.load_message_context(session_id, row.number)
        said = UserMessage(
            message, attachments=tuple(attachments), page=brought.page, client_tools=brought.client_tools
        )
        async with self._unpin_if_unsent(session_id, attachments):
            await self._replace_running_turn(session_id, partial(self._rerun_edited_message, session_id, row, said))

    async def retry_answer(self, session_id: str, *, writes_calls: bool = False) -> None:
        """Request the model's answer to the last user message again.

        Args:
            session_id: The session.
            writes_calls: True if the session's model writes its calls from now on, because it is not given the tools.
        Raises:
            ToolError: As `edit_message`; `message_not_found`: there is no user message yet.
        """
        await self._find_user_message(session_id, None)
        work = partial(self._rerun_last_message, session_id, writes_calls=writes_calls)
        await self._replace_running_turn(session_id, work)

    async def stop_turn(self, session_id: str) -> int:
        """Stop a session's tasks, including waiting calls; messages remain. Return how many tasks were stopped.

        Raises:
            ToolError: `session_not_found`.
        """
        await self.find_session(session_id)
        return await self._turns.stop_and_wait(session_id)

    def stop_turn_soon(self, session_id: str) -> None:
        """Start stopping all tasks of a session, because the client that started them has lost its permission."""
        self._turns.stop_turns(session_id)

    async def change_queued_message(
        self, session_id: str, message_id: str, *, text: str | None, when: MessageTime | None
    ) -> QueueView:
        """Change a waiting message.

        Raises:
            ToolError: `session_not_found`, `message_not_found`, `queue_full`.
        """
        await self.find_session(session_id)
        changed = await self._chats.queue.update_message(
            session_id, message_id, text=text, when=when, limit_chars=QUEUED_CHARS
        )
        if changed is None:
            raise _message_gone_error(message_id)
        if not changed:
            raise _queue_full_error()
        await self._publish_queue(session_id)
        if when == "steer":
            await self._steer_turn(session_id)
        return await queue_view(self._chats, session_id)

    async def remove_queued_message(self, session_id: str, message_id: str) -> QueueView:
        """Remove a waiting message.

        Raises:
            ToolError: `session_not_found`, `message_not_found`.
        """
        await self.find_session(session_id)
        before = (await self._chats.queue.load_queue(session_id)).messages
        if not await self._chats.queue.delete_message(session_id, message_id):
            raise _message_gone_error(message_id)
        attached = {message.message_id: set(message.attachments) for message in before}
        freed = attached.pop(message_id, set()).difference(*attached.values())
        await self._core.store.artifacts.unpin_artifacts(sorted(freed), session_id)
        await self._publish_queue(session_id)
        return await queue_view(self._chats, session_id)

    async def set_queue_paused(self, session_id: str, *, is_paused: bool) -> QueueView:
        """Pause or resume the queue.

        Raises:
            ToolError: `session_not_found`.
        """
        await self.find_session(session_id)
        if not is_paused:
            await self._resume_queue(session_id)
            await self._start_next(session_id)
        elif await self._chats.queue.set_paused(session_id, is_paused=True):
            await self._publish_queue(session_id)
        return await queue_view(self._chats, session_id)

    # -- calls and questions -----------------------------------------------------------------------------------------

    async def find_waiting_call(self, session_id: str, tool_id: str) -> ChatCallRow:
        """Return a call of a model that waits for an answer.

        Raises:
            ToolError: `tool_call_not_found`, `tool_call_answered`.
        """
        return await self._answers.find_waiting_call(session_id, tool_id)

    async def find_client_call(self, session_id: str, tool_name: str) -> ChatCallRow | None:
        """Return the oldest call of a client tool that waits for its result; None if there is none."""
        for call in await self._chats.load_open_calls(session_id):
            if (call.kind, call.state, call.tool_name) == ("client", "waiting", tool_name):
                return call
        return None

    async def answer_call(
        self,
        session_id: str,
        tool_id: str,
        by: Principal,
        *,
        is_approved: bool,
        client: AnsweringClient | None = None,
    ) -> asyncio.Task[object] | None:
        """Approve or reject a waiting call; the first answer counts.

        The model's turn continues when no other call of it waits.

        Args:
            session_id: The session.
            tool_id: The call's id in the session.
            by: Who decides.
            is_approved: The decision.
            client: The client that waits for the events that follow; None: there is none.
        Returns:
            The continuing turn; None: the caller of this call is still waiting, and continues by itself.
        Raises:
            ToolError: `session_not_found`, `tool_call_not_found`, `tool_call_answered`, or why `by` may not approve it.
        """
        session = await self.find_session(session_id)
        stream = self._turns.open_stream(session_id) if client is None else client.stream
        cancelled = localized_text(self._core.config.locale, "cancelled")
        if await self._answers.decide_blocking_call(session, tool_id, by, is_approved=is_approved):
            if not is_approved:
                stream.send_to_client({"content": cancelled})
            return None
        await self._answers.decide_call(session, tool_id, by, stream, is_approved=is_approved)
        if client is not None and not is_approved:
            stream.send_content(cancelled)
            stream.live.clear_answer()
        return self._continue_after_answer(session_id, client)

    async def answer_client_call(self, call: ChatCallRow, result: str, client: AnsweringClient) -> asyncio.Task[object]:
        """Store the result of a call that the client has run, and continue the turn.

        Args:
            call: The waiting call.
            result: The result, usually JSON text.
            client: The client.
        Returns:
            The continuing turn.
        Raises:
            ToolError: `session_not_found`, `agent_not_found`, `tool_call_answered`.
        """
        session = await self.find_session(call.session_id)
        agent = self._settings().get_agent(session.agent_id)
        await self._answers.store_client_result(call, result, agent, client.stream)
        return self._continue_after_answer(call.session_id, client)

    async def answer_question(self, session_id: str, question_id: str, reply: Reply) -> None:
        """Answer a tool's question.

        Raises:
            ToolError: `session_not_found`, `question_not_found`, `invalid_answer`.
        """
        await self.find_session(session_id)
        live = self._turns.live.find(session_id)
        if live is None or not live.questions.answer(question_id, reply):
            message = f"no question {question_id!r} waits: it was answered, or nobody waits for it any more"
            raise ToolError("question_not_found", message, question_id=question_id)

    def list_questions(self) -> list[tuple[str, QuestionView]]:
        """Return the questions of tools that wait in any session, with the ids of the sessions."""
        return self._turns.live.list_questions()

    async def start_user_call(self, session_id: str, tool: str, arguments: dict[str, Any], by: Principal) -> str:
        """Run a call for the user; it is stored in the session with its result. Return its id there.

        Raises:
            ToolError: `session_not_found`.
        """
        row = await self.find_session(session_id)
        stream = self._turns.open_stream(session_id)
        live = stream.live
        live.agent_id = row.agent_id
        live.owner = row.owner
        settings = self._settings()
        self._core.policy.set_session_mode(session_id, settings.mode_for(row.mode, row.agent_id))
        live.hosts = settings.hosts_for(row.host, row.agent_id)
        live.todos = json.loads(row.todos or "[]")
        call = UserCall(self._core, stream, tool, arguments)
        number = await call.store_call()
        self._turns.spawn_task(call.run_call(by, number), session_id)
        return call.tool_id

    def _continue_after_answer(self, session_id: str, client: AnsweringClient | None) -> asyncio.Task[object]:
        if client is None:
            return self._turns.start_continuation(session_id)
        prepare = partial(self._store_client_context, session_id, client)
        return self._turns.start_continuation(session_id, client.stream, prepare)

    async def _store_client_context(self, session_id: str, client: AnsweringClient) -> None:
        """Store the page, client tools and model sent with an answer, for the rest of the turn and after a restart."""
        values: dict[str, str | None] = {}
        if client.page is not None:
            if client.page != PageInfo():
                source = page_source(client.page, self._core.config.locale)
                await self._core.policy.record_untrusted_source(session_id, source)
            values["page"] = dump_page(client.page)
        if client.client_tools is not None:
            values["client_tools"] = dump_client_tools(client.client_tools)
        if client.model:
            values["model"] = client.model
        if values:
            await self._chats.update_session(session_id, **values)

    # -- starting turns ----------------------------------------------------------------------------------------------

    async def _check_message(self, session_id: str, message: UserMessage, by: Principal) -> None:
        session = await self.find_session(session_id)
        if (message.page or message.client_tools) and session.owner != owner_of(by):
            error = "only the creator of a session can send a page and tools; send the message without them"
            raise ToolError("forbidden", error, session_id=session_id)
        await self._turns.check_can_start(session, model=message.model, agent_id=message.agent_id)

    async def _start_message(
        self, session_id: str, message: UserMessage, by: Principal, stream: Stream | None = None
    ) -> asyncio.Task[object] | None:
        """Start the turn of a new message; None if a turn is running, or other messages or calls come first."""
        return await self._turns.start_if_idle(session_id, partial(self._choose_sent, session_id, message, by), stream)

    async def _choose_sent(self, session_id: str, message: UserMessage, by: Principal) -> Work | None:
        """Return the work for a new message; None if it does not steer and other messages or calls come first."""
        if message.when == "queue":
            queue = await self._chats.queue.load_queue(session_id)
            if (queue.messages and not queue.is_paused) or await self._is_waiting(session_id):
                return None
        # only now: a message that does not start must not release what another one with the same files has pinned
        await self._pin_attachments(session_id, message.attachments, by)
        async with self._unpin_if_unsent(session_id, message.attachments):
            await self._resume_queue(session_id)
        return partial(self._run_message, session_id, message)

    async def _enqueue_message(self, session_id: str, message: UserMessage, by: Principal) -> None:
        await self._pin_attachments(session_id, message.attachments, by)
        async with self._unpin_if_unsent(session_id, message.attachments):
            if not await self._chats.queue.add_message(
                session_id, message, limit=QUEUED_MESSAGES, limit_chars=QUEUED_CHARS
            ):
                raise _queue_full_error()
        await self._publish_queue(session_id)
        if message.when == "steer":
            await self._steer_turn(session_id)
        await self._resume_queue(session_id)

    async def _steer_turn(self, session_id: str) -> None:
        """Notify the running turn of a steering message; a turn that waits for calls continues with it."""
        live = self._turns.live.find(session_id)
        if live is not None:
            live.may_be_steered = True
            for call_id in list(live.inner.values()):  # pending nested calls would block the turn
                if (pending := self._core.approvals.find_pending(call_id)) is not None:
                    await pending.withdraw(result_text("superseded"))
        await self._start_next(session_id)

    async def _resume_queue(self, session_id: str) -> None:
        if await self._chats.queue.set_paused(session_id, is_paused=False):
            await self._publish_queue(session_id)

    def _start_next_soon(self, session_id: str) -> None:
        self._turns.spawn_task(self._start_next(session_id), "")

    async def _start_next(self, session_id: str) -> None:
        """Start the turn of the next queued message, if nothing prevents it."""
        await self._turns.start_if_idle(session_id, partial(self._choose_next, session_id))
        self._turns.remove_if_idle(session_id)

    async def _choose_next(self, session_id: str) -> Work | None:
        queue = await self._chats.queue.load_queue(session_id)
        steering = next((message for message in queue.messages if message.when == "steer"), None)
        if steering is not None:
            return partial(self._run_message, session_id, steering)
        if not queue.messages or queue.is_paused or await self._is_waiting(session_id):
            return None
        return partial(self._run_message, session_id, queue.messages[0])

    async def _run_message(self, session_id: str, message: UserMessage, stream: Stream) -> list[str]:
        """Run a message's turn."""
        chosen = {"model": message.model, "agent_id": message.agent_id}
        values = {name: value for name, value in chosen.items() if value}
        try:
            # a queued message keeps its attachments pinned until a turn takes it
            async with self._unpin_if_unsent(session_id, () if message.message_id else message.attachments):
                if values:
                    await self._chats.update_session(session_id, **values)
                turn = await self._turns.load_turn(session_id, stream)
                await turn.start_with_message(message)
        except ToolError as exc:
            await self._turns.store_turn_error(session_id, exc)
            raise
        return await self._turns.run_turn(turn, session_id)

    async def _replace_running_turn(self, session_id: str, work: Work) -> None:
        """Stop the running turn, and start another one; the queue resumes afterwards."""
        await self._turns.check_can_start(await self.find_session(session_id))
        await self._turns.replace_running_turn(session_id, work)
        await self._resume_queue(session_id)

    async def _rerun_edited_message(
        self, session_id: str, row: ChatMessageRow, message: UserMessage, stream: Stream
    ) -> list[str]:
        await self._rewind_session(session_id, row.number, _without_prompt(row))
        async with self._unpin_if_unsent(session_id, message.attachments):
            turn = await self._turns.load_turn(session_id, stream)
            await turn.start_with_message(message)
        return await self._turns.run_turn(turn, session_id)

    async def _rerun_last_message(self, session_id: str, stream: Stream, *, writes_calls: bool) -> list[str]:
        if writes_calls:
            await self._store_written_calls(session_id)
        row = await self._find_user_message(session_id, None)
        await self._rewind_session(session_id, row.number + 1, None)
        brought = await self._chats.load_message_context(session_id, row.number)
        await self._chats.update_session(
            session_id, steps=0, tokens=0, page=brought.page, client_tools=brought.client_tools
        )
        return await self._turns.run_turn(await self._turns.load_turn(session_id, stream), session_id)

    async def _store_written_calls(self, session_id: str) -> None:
        """Store that the session's model writes its calls from now on."""
        session = await self.find_session(session_id)
        settings = self._settings()
        choice = settings.choose_model(session.model or None, settings.get_agent(session.agent_id))
        scales = ModelScales.from_json_text(session.model_scales)
        scales.record_written_calls(choice.full_name)
        await self._chats.update_session(session_id, model_scales=scales.to_json_text())

    async def _rewind_session(self, session_id: str, number: int, replacement: NewMessage | None) -> None:
        for call in await self._chats.load_open_calls(session_id):
            if (pending := self._core.approvals.find_pending(call.call_id)) is not None:
                await pending.withdraw()
        await self._chats.rewind(session_id, number, replacement)
        self._publish(session_id, "session.rewound", {"number": number})

    # -- helpers ---------------------------------------------------------------------------------------------------

    async def _pin_attachments(self, session_id: str, attachments: Sequence[str], by: Principal) -> None:
        """Pin the attachments of a message that is about to be sent.

        Raises:
            ToolError: `artifact_not_found`: an artifact does not exist, or has another owner; `attachments_full`.
        """
        if attachments:
            owner = None if find_reach(by, "converse") == "all" else owner_of(by)
            await self._core.store.artifacts.pin_artifacts(attachments, session_id, owner)

    @asynccontextmanager
    async def _unpin_if_unsent(self, session_id: str, attachments: Sequence[str]) -> AsyncIterator[None]:
        """Unpin the attachments of a message if sending it fails."""
        try:
            yield
        except BaseException:
            if attachments:
                await self._core.store.artifacts.unpin_artifacts(attachments, session_id)
            raise

    async def _is_waiting(self, session_id: str) -> bool:
        """True while calls of the session wait for an answer."""
        return any(call.state == "waiting" for call in await self._chats.load_open_calls(session_id))

    async def _find_user_message(self, session_id: str, number: int | None) -> ChatMessageRow:
        """Return a user message; without a number, the last one."""
        await self.find_session(session_id)
        for row in reversed(await self._chats.load_history(session_id)):
            if row.kind == "said" and number in {None, row.number} and transcript.prompt_of(row) is not None:
                return row
        message = (
            "nothing was said in this session yet" if number is None else f"message {number} is none of a person's"
        )
        raise ToolError("message_not_found", message, number=number)

    def _list_waiting_calls(self, row: ChatSessionRow, stored: Mapping[str, list[str]]) -> list[str]:
        return [*stored.get(row.session_id, []), *self._turns.list_waiting_inner_calls(row.session_id)]

    def _build_session_view(self, row: ChatSessionRow, waiting: list[str]) -> SessionView:
        live = self._turns.live.find(row.session_id)
        return SessionView(
            session_id=row.session_id,
            title=row.title,
            agent_id=row.agent_id,
            model=row.model,
            mode=self.find_effective_mode(row.mode, row.agent_id),
            own_mode=row.mode,
            host=self._core.registry.choose_host(self._settings().hosts_for(row.host, row.agent_id)),
            own_host=row.host,
            user_id=row.user_id,
            created_at=row.created_at_ms,
            last_used_at=row.last_used_at_ms,
            is_running=row.session_id in self._turns.busy_sessions,
            waiting=waiting,
            questions=0 if live is None else len(live.questions.all),
        )

    async def _publish_queue(self, session_id: str) -> None:
        await publish_queue(self._chats, self._turns.open_stream(session_id))

    def _publish(self, session_id: str, event_type: str, data: Mapping[str, Any]) -> None:
        self._core.events.publish(event_type, data, session_id=session_id)


def clean_title(title: str) -> str:
    """Return a title on one line, truncated to its limit."""
    return " ".join(title.split())[:TITLE_CHARS]


def _without_prompt(row: ChatMessageRow) -> NewMessage | None:
    """Return a message without the user's text, which leaves results of calls; None if nothing is left."""
    (message,) = json.loads(row.message)
    parts = [part for part in message["parts"] if part["part_kind"] != "user-prompt"]
    return NewMessage(json.dumps([{**message, "parts": parts}], ensure_ascii=False), "told") if parts else None


def _queue_full_error() -> ToolError:
    message = (
        f"{QUEUED_MESSAGES} messages, {QUEUED_CHARS:,} characters in all, can wait in one session; wait until some "
        "have gone out, or take some out"
    )
    return ToolError("queue_full", message, retryable=True, limit=QUEUED_MESSAGES)


def _message_gone_error(message_id: str) -> ToolError:
    return ToolError("message_not_found", f"no message {message_id!r} waits: it has gone out, or was taken out")
