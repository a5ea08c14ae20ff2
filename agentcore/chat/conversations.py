"""Sessions as users work with them: listed, opened, searched, continued and rewound."""

import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from agentcore.api import Principal
from agentcore.approval_rules import ApprovalMode
from agentcore.chat.bounds import TITLE_CHARS
from agentcore.chat.session import transcript
from agentcore.chat.session.queue import publish_queue
from agentcore.chat.session.stream import Stream
from agentcore.chat.session.view import (
    ContextView,
    MessagesView,
    SessionDetail,
    SessionsView,
    SessionView,
    StreamingView,
    UsageView,
)
from agentcore.chat.settings import ChatSettings
from agentcore.chat.turn.call_answers import CallAnswers
from agentcore.chat.turn.turns import Turns, Work
from agentcore.core import CallRequest, Core
from agentcore.core.approvals import Verdict
from agentcore.core.calls import Reply
from agentcore.core.event_types import ENVELOPE
from agentcore.core.policy import PERSONS, client_in, owner_of
from agentcore.errors import ToolError
from agentcore.store.chat import ChatMessageRow, ChatSessionRow, NewMessage, UsedTokens, UserMessage


class Conversations:
    """All sessions of a core, for its users: the page, the command line, holders of the token.

    Args:
        core: Runs the calls.
        turns: Runs the turns.
        answers: Records decisions on calls.
        settings: Returns the current models and agents.
    """

    def __init__(self, core: Core, turns: Turns, answers: CallAnswers, settings: Callable[[], ChatSettings]) -> None:
        self._core = core
        self._chats = core.store.chats
        self._turns = turns
        self._settings = settings
        self._answers = answers

    # -- queries ---------------------------------------------------------------------------------------------------

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
        row = await self._find_session(session_id)
        waiting = await self._chats.load_waiting_calls([session_id])
        live = self._turns.live.find(session_id)
        return SessionDetail(
            **dict(self._build_session_view(row, self._list_waiting_calls(row, waiting))),
            todos=json.loads(row.todos or "[]"),
            question=None if live is None else live.questions.first,
            usage=UsageView(**{name: getattr(row, name) for name in UsedTokens._fields}),
            context=None if row.context is None else ContextView.model_validate_json(row.context),
        )

    async def list_messages(self, session_id: str, *, before: int | None, limit: int) -> MessagesView:
        """Return messages of a session, and the id of the last event that they include.

        Raises:
            ToolError: `session_not_found`.
        """
        session = await self._find_session(session_id)
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
            event_id=event_id,
        )

    def effective_mode(self, own: str | None, agent_id: str) -> ApprovalMode:
        """Return the mode in effect for a session, from its own mode (None: it has none) and its agent."""
        return self._settings().mode_for(own, agent_id) or self._core.policy.mode

    # -- changes ---------------------------------------------------------------------------------------------------

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

    async def change_session(self, session_id: str, values: Mapping[str, str | None]) -> SessionDetail:
        """Change title, model, agent, mode or host (columns of the session).

        Raises:
            ToolError: `session_not_found`, `agent_not_found`, `model_not_found`.
        """
        row = await self._find_session(session_id)
        settings = self._settings()
        agent = settings.get_agent(values.get("agent_id") or row.agent_id)
        if values.get("model"):
            settings.choose_model(values["model"], agent)
        if values:
            await self._chats.update_session(session_id, **values)
        live = self._turns.live.find(session_id)
        if live is not None and "mode" in values:
            # applies to running tasks as well
            live.mode = settings.mode_for(values["mode"], live.agent_id or row.agent_id)
        if live is not None and "host" in values:
            live.hosts = settings.hosts_for(values["host"], live.agent_id or row.agent_id)
        changed = await self.describe_session(session_id)
        said = {name: value for name, value in changed.to_json().items() if name not in ENVELOPE}
        self._publish(session_id, "session.changed", said)
        return changed

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
        await self._find_session(session_id)
        await self._turns.stop_and_wait(session_id)
        await self._chats.delete_session(session_id)
        await self._core.end_session(session_id)
        self._publish(session_id, "session.deleted", {})

    # -- turns and calls -------------------------------------------------------------------------------------------

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
        await self._turns.pin_attachments(session_id, attachments, by)
        brought = await self._chats.load_message_context(session_id, row.number)
        said = UserMessage(
            message, attachments=tuple(attachments), page=brought.page, client_tools=brought.client_tools
        )
        async with self._turns.unpin_if_unsent(session_id, attachments):
            await self._replace_running_turn(session_id, partial(self._rerun_edited_message, session_id, row, said))

    async def retry_answer(self, session_id: str) -> None:
        """Request the model's answer to the last user message again.

        Raises:
            ToolError: As `edit_message`; `message_not_found`: there is no user message yet.
        """
        await self._find_user_message(session_id, None)
        await self._replace_running_turn(session_id, partial(self._rerun_last_message, session_id))

    async def stop_turns(self, session_id: str) -> int:
        """Stop a session's tasks, including waiting calls; messages remain. Return how many tasks were stopped.

        Raises:
            ToolError: `session_not_found`.
        """
        await self._find_session(session_id)
        return await self._turns.stop_and_wait(session_id)

    async def reject_call(self, session_id: str, tool_id: str, by: Principal) -> None:
        """Reject a waiting call; the model is notified, and continues when no other call waits.

        Raises:
            ToolError: `session_not_found`, `tool_call_not_found`, `tool_call_answered`.
        """
        await self._find_session(session_id)
        call = await self._chats.find_call(session_id, tool_id)
        if call is None and await self._reject_inner(session_id, tool_id, by):
            return
        if call is None:
            raise ToolError("tool_call_not_found", f"no call {tool_id!r} was made in this session", toolId=tool_id)
        if not await self._answers.record_answer(call, Verdict(approved=False, by=by.name)):
            raise ToolError("tool_call_answered", f"call {tool_id!r} was answered already", toolId=tool_id)
        stream = self._turns.open_stream(session_id)
        work = self._turns.run_guarded(self._turns.continue_turn(session_id, stream), session_id, stream)
        self._turns.spawn_task(work, session_id)

    async def _reject_inner(self, session_id: str, tool_id: str, by: Principal) -> bool:
        """Reject a waiting call of a sub-agent, or one that the user made; False if there is none."""
        live = self._turns.live.find(session_id)
        names = {} if live is None else {name: call_id for call_id, name in live.tool_ids.items()} | live.inner
        pending = self._core.approvals.find_pending(names.get(tool_id, ""))
        if pending is None or pending.verdict is not None:
            return False
        await self._core.approvals.decide_call(pending.request.call_id, Verdict(approved=False, by=by.name))
        return True

    async def answer_question(self, session_id: str, question_id: str, reply: Reply) -> None:
        """Answer a tool's question.

        Raises:
            ToolError: `session_not_found`, `question_not_found`, `invalid_answer`.
        """
        await self._find_session(session_id)
        live = self._turns.live.find(session_id)
        if live is None or not live.questions.answer(question_id, reply):
            message = f"no question {question_id!r} waits: it was answered, or nobody waits for it any more"
            raise ToolError("question_not_found", message, question_id=question_id)

    async def start_command(self, session_id: str, tool: str, arguments: dict[str, Any], by: Principal) -> str:
        """Run a call for the user; it is stored in the session with its result. Return its id there.

        Raises:
            ToolError: `session_not_found`.
        """
        row = await self._find_session(session_id)
        tool_id = f"tc_{secrets.token_hex(8)}"
        call = {"toolId": tool_id, "toolName": tool, "arguments": arguments, "kind": "server", "state": "running"}
        stream = self._turns.open_stream(session_id)
        stream.live.commands.add(tool_id)
        stream.live.agent_id = row.agent_id
        stream.live.owner = row.owner
        settings = self._settings()
        stream.live.mode = settings.mode_for(row.mode, row.agent_id)
        stream.live.hosts = settings.hosts_for(row.host, row.agent_id)
        stream.live.todos = json.loads(row.todos or "[]")
        (number,) = await self._chats.append_messages(session_id, [transcript.create_notice("", calls=[call])])
        stream.publish_message({"number": number, "role": "notice", "text": "", "calls": [call]})
        request = CallRequest(tool, arguments, by, session_id=session_id, waits_for_approval=True)
        self._turns.spawn_task(self._run_command(request, call, number, stream), session_id)
        return tool_id

    async def _run_command(self, request: CallRequest, call: dict[str, Any], number: int, stream: Stream) -> None:
        session_id = str(request.session_id)
        tool_id = call["toolId"]

        def notify(event: str, said: Mapping[str, Any]) -> None:
            if event in {"accepted", "approval"}:
                stream.live.tool_ids[said["callId"]] = tool_id
                state = "running" if event == "accepted" else "waiting"
                stream.publish_tool_state(tool_id, state, **said)

        envelope: dict[str, Any] = {"ok": False, "error": ToolError("cancelled", "the call was cancelled").to_json()}
        try:
            envelope = json.loads((await self._core.run_call(request, notify)).encode_envelope())
        finally:
            ended = {**call, "state": transcript.end_of(envelope), "result": envelope}
            if "callId" in envelope:
                ended["callId"] = envelope["callId"]
            try:
                await self._chats.replace_message(session_id, number, transcript.create_notice("", calls=[ended]))
            finally:
                stream.live.commands.discard(tool_id)
                stream.publish_tool_result(request.tool, tool_id, envelope, is_told=False)

    async def _replace_running_turn(self, session_id: str, work: Work) -> None:
        """Stop the running turn, and start another one; the queue resumes afterwards."""
        await self._turns.check_can_start(await self._find_session(session_id))
        await self._turns.replace_running_turn(session_id, work)
        if await self._chats.queue.set_paused(session_id, is_paused=False):
            await publish_queue(self._chats, self._turns.open_stream(session_id))

    async def _rerun_edited_message(
        self, session_id: str, row: ChatMessageRow, message: UserMessage, stream: Stream
    ) -> list[str]:
        await self._rewind_session(session_id, row.number, _without_prompt(row))
        async with self._turns.unpin_if_unsent(session_id, message.attachments):
            turn = await self._turns.load_turn(session_id, stream)
            await turn.start_with_message(message)
        return await self._turns.run_turn(turn, session_id)

    async def _rerun_last_message(self, session_id: str, stream: Stream) -> list[str]:
        row = await self._find_user_message(session_id, None)
        await self._rewind_session(session_id, row.number + 1, None)
        brought = await self._chats.load_message_context(session_id, row.number)
        await self._chats.update_session(
            session_id, steps=0, tokens=0, page=brought.page, client_tools=brought.client_tools
        )
        return await self._turns.run_turn(await self._turns.load_turn(session_id, stream), session_id)

    async def _rewind_session(self, session_id: str, number: int, replacement: NewMessage | None) -> None:
        for call in await self._chats.load_open_calls(session_id):
            if (pending := self._core.approvals.find_pending(call.call_id)) is not None:
                await pending.withdraw()
        await self._chats.rewind(session_id, number, replacement)
        self._publish(session_id, "session.rewound", {"number": number})

    async def _find_user_message(self, session_id: str, number: int | None) -> ChatMessageRow:
        """Return a user message; without a number, the last one."""
        await self._find_session(session_id)
        for row in reversed(await self._chats.load_history(session_id)):
            if row.kind == "said" and number in {None, row.number} and transcript.prompt_of(row) is not None:
                return row
        said = "nothing was said in this session yet" if number is None else f"message {number} is none of a person's"
        raise ToolError("message_not_found", said, number=number)

    async def _find_session(self, session_id: str) -> ChatSessionRow:
        row = await self._chats.find_session(session_id)
        if row is None:
            raise ToolError("session_not_found", f"there is no session {session_id!r}", session_id=session_id)
        return row

    def _list_waiting_calls(self, row: ChatSessionRow, stored: Mapping[str, list[str]]) -> list[str]:
        return [*stored.get(row.session_id, []), *self._turns.list_waiting_inner_calls(row.session_id)]

    def _build_session_view(self, row: ChatSessionRow, waiting: list[str]) -> SessionView:
        return SessionView(
            session_id=row.session_id,
            title=row.title,
            agent_id=row.agent_id,
            model=row.model,
            mode=self.effective_mode(row.mode, row.agent_id),
            own_mode=row.mode,
            host=self._core.registry.choose_host(self._settings().hosts_for(row.host, row.agent_id)),
            own_host=row.host,
            user_id=row.user_id,
            created_at=row.created_at_ms,
            last_used_at=row.last_used_at_ms,
            is_running=row.session_id in self._turns.busy_sessions,
            waiting=waiting,
        )

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
