"""The chat of a core: accepts messages, results and approvals from clients, and runs turns."""

import asyncio
import json
import os
from collections.abc import Mapping
from functools import partial
from typing import Any

import structlog

from agentcore.api import CallPreview, Principal, ToolDefinition
from agentcore.chat.client_context import page_json, tools_json
from agentcore.chat.conversations import Conversations
from agentcore.chat.message_queue import MessageQueue
from agentcore.chat.session.live import Sink
from agentcore.chat.session.stream import Stream
from agentcore.chat.settings import AgentConfig
from agentcore.chat.setup import ModelSetup
from agentcore.chat.system_message import SystemMessages
from agentcore.chat.texts import localized_text
from agentcore.chat.tool_chat import ToolChat
from agentcore.chat.turn.call_answers import CallAnswers
from agentcore.chat.turn.prompts import page_source
from agentcore.chat.turn.stopping import StoppedTurn
from agentcore.chat.turn.tool_output import client_output
from agentcore.chat.turn.turns import Turns
from agentcore.chat.turn.untrusted import use_mark
from agentcore.chat.wire import CallAnswer, ChatBody, PageInfo, read_answer, read_client_result
from agentcore.core import Core
from agentcore.core.approvals import ApprovalRequest, Verdict, check_approver
from agentcore.core.calls import ArtifactReading, ModelReader
from agentcore.core.events import Event
from agentcore.core.policy import Action, authorise, owner_of
from agentcore.errors import ToolError
from agentcore.store.chat import ChatCallRow, ChatSessionRow, UserMessage

log = structlog.get_logger(__name__)


class Chat:
    """The chat of one core. Closed before the core is stopped.

    Args:
        core: Runs the calls.
        environ: Environment with the keys and addresses of providers.

    Attributes:
        conversations: Sessions as a page uses them.
        queue: User messages until a turn takes them.
        system_messages: System messages of the sessions.
        setup: Models and agents.
    """

    def __init__(self, core: Core, environ: Mapping[str, str] = os.environ) -> None:
        self._core = core
        self._chats = core.store.chats
        self.setup = ModelSetup(core, environ)
        self._locale = core.config.locale
        self._turns = Turns(core, lambda: self.setup.settings)
        self._answers = CallAnswers(core)
        self.conversations = Conversations(core, self._turns, self._answers, lambda: self.setup.settings)
        self.queue = MessageQueue(core, self._turns)
        self.system_messages = SystemMessages(core, lambda: self.setup.settings)
        core.conversation.chat = ToolChat(core, self._turns, lambda: self.setup.settings)
        self._unsubscribe = (
            core.events.subscribe("approval.decided", self._handle_decision_event),
            core.events.subscribe("approval.withdrawn", self._handle_withdrawal_event),
            core.events.subscribe("stop.changed", self._handle_stop_event),
        )
        if core.config.approvals.api_token:
            log.warning("api_token_approves", hint="anybody who reads the token can approve calls of a model")

    async def handle_request(self, body: ChatBody, principal: Principal, sink: Sink) -> None:
        """Handle a client's request, and continue the session; returns after the last event.

        Every failure is sent as an event. A client that disconnects (cancels this) does not end the turn.
        """
        stream = self._turns.open_stream(body.session_id, sink)
        # wait(), not await: the request and the task must not cancel each other
        work = self._turns.run_guarded(self._dispatch(body, principal, stream), body.session_id, stream)
        await asyncio.wait({self._turns.spawn_task(work, body.session_id)})

    async def resume_turns(self) -> None:
        """Resume the turns that the end of the last process interrupted. Called when the modules have started."""
        for request, verdict in self._core.approvals.unused_verdicts:
            said = {"callId": request.call_id, "approved": verdict.approved, "by": verdict.by}
            self._turns.spawn_task(self._apply_decision(request.session_id, said), request.session_id)
        for session_id, call_id in await self._chats.load_asked_calls():
            # a request that the queue could not restore, because its tool is gone, can no longer be decided
            if self._core.approvals.find_pending(call_id) is None and not self._core.approvals.is_away(call_id):
                self._turns.spawn_task(self._settle_withdrawn_call(session_id, call_id), session_id)
        for session_id in await self._chats.find_interrupted_sessions():
            log.info("session_resumed", session_id=session_id)
            stream = self._turns.open_stream(session_id)
            work = self._turns.run_guarded(self._turns.continue_turn(session_id, stream), session_id, stream)
            self._turns.spawn_task(work, session_id)

    def preload_engine(self) -> None:
        """Import the model libraries in the background, if a model is set up."""
        if self.setup.is_set_up:
            self._turns.spawn_task(self._preload_engine(), "")

    def end_turns(self, session_id: str) -> None:
        """Stop all tasks of a session, because the client that started them has lost its permission."""
        self._turns.stop_turns(session_id)

    async def close(self) -> None:
        """Cancel all turns; they resume after a restart. Safe to call twice."""
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        await self._turns.close()
        self._core.conversation.chat = None

    # -- requests ----------------------------------------------------------------------------------------------

    async def _dispatch(self, body: ChatBody, principal: Principal, stream: Stream) -> list[str]:
        settings = self.setup.settings
        agent = settings.get_agent(body.agent_id)
        session = await self._find_or_create_session(body, principal)
        if body.role == "function":
            answer = read_answer(body.message)
            if (request := self._find_inner_request(body.session_id, answer.toolId)) is not None:
                # its turn is already running in another task
                await self._handle_inner_answer(request, answer, session, principal, stream)
                return await self._turns.list_waiting_calls(body.session_id)
            await self._handle_answer(answer, session, principal, stream)
            return await self._continue_session(session.session_id, stream, body)
        call = await self._find_client_call(body)
        if call is not None:
            await self._store_client_result(body, call, stream, settings.get_agent(session.agent_id))
            return await self._continue_session(session.session_id, stream, body)
        settings.choose_model(body.model or None, agent)
        self._turns.check_idle(session.session_id)
        await self._turns.pin_attachments(session.session_id, body.attachments, principal)
        async with self._turns.lock_turn(session.session_id):
            async with self._turns.unpin_if_unsent(session.session_id, body.attachments):
                chosen = {"agent_id": body.agent_id} | ({"model": body.model} if body.model else {})
                await self._chats.update_session(session.session_id, **chosen)
                turn = await self._turns.load_turn(session.session_id, stream)
                await turn.start_with_message(
                    UserMessage(
                        body.message,
                        attachments=body.attachments,
                        page=page_json(body.current_page_info),
                        client_tools=tools_json(body.browser_tools),
                    )
                )
            return await self._turns.run_turn(turn, session.session_id)

    async def _continue_session(self, session_id: str, stream: Stream, body: ChatBody) -> list[str]:
        async with self._turns.get_turn_lock(session_id):
            await self._store_client_context(body)
        return await self._turns.continue_turn(session_id, stream)

    async def _find_or_create_session(self, body: ChatBody, principal: Principal) -> ChatSessionRow:
        """Return the session; create it at its first message.

        Raises:
            ToolError: `forbidden`: it belongs to another credential, or to another user.
        """
        session = await self._chats.find_session(body.session_id)
        if principal.kind == "client":
            return self._session_for_client(session, body, principal)
        authorise(principal, "converse")
        if session is None:
            session = await self._chats.get_or_create(
                body.session_id,
                owner=owner_of(principal),
                user_id=body.user_id,
                agent_id=body.agent_id,
                model=body.model or "",
            )
        if (session.owner, session.user_id) != (owner_of(principal), body.user_id):
            raise ToolError("forbidden", f"session {body.session_id!r} is somebody else's; use one of your own")
        return session

    def _session_for_client(
        self, session: ChatSessionRow | None, body: ChatBody, principal: Principal
    ) -> ChatSessionRow:
        """Return the session in which a paired client chats, or whose call it answers.

        Raises:
            ToolError: `session_not_found`, `forbidden`.
        """
        is_answer = body.role == "function"
        action: Action = "approve" if is_answer else "converse"
        authorise(principal, action)
        if session is None:
            # not created here: an id chosen by the client may be one under which others make calls
            message = f"there is no session {body.session_id!r}; a client makes one with POST /api/sessions"
            raise ToolError("session_not_found", message, session_id=body.session_id)
        authorise(principal, action, session.owner)
        is_own = session.owner == owner_of(principal)
        if not is_own and (body.browser_tools or body.current_page_info or body.model):
            message = "whoever only answers calls of a session brings it neither tools nor a page nor a model"
            raise ToolError("forbidden", message, session_id=body.session_id)
        return session

    def _find_inner_request(self, session_id: str, tool_id: str) -> ApprovalRequest | None:
        """Return the approval request of a call nested in a call of the session; None if there is none."""
        live = self._turns.live.find(session_id)
        pending = None if live is None else self._core.approvals.find_pending(live.inner.get(tool_id, ""))
        return None if pending is None else pending.request

    async def _handle_inner_answer(
        self,
        request: ApprovalRequest,
        answer: CallAnswer,
        session: ChatSessionRow,
        principal: Principal,
        stream: Stream,
    ) -> None:
        if answer.approved:
            self._check_approver(principal, session, request.definition, request.preview)
        try:
            await self._core.approvals.decide_call(request.call_id, Verdict(answer.approved, by=principal.name))
        except ToolError as exc:
            if exc.type != "approval_not_found":
                raise
            raise _already_answered_error(answer.toolId) from exc
        if not answer.approved:
            stream.send_to_client({"content": localized_text(self._locale, "cancelled")})

    def _check_approver(
        self,
        principal: Principal,
        session: ChatSessionRow,
        definition: ToolDefinition | None,
        preview: CallPreview | None,
    ) -> None:
        api_token_approves = self._core.policy.config.api_token
        check_approver(
            principal, definition, preview, api_token_approves=api_token_approves, session_owner=session.owner
        )

    async def _handle_answer(
        self, answer: CallAnswer, session: ChatSessionRow, principal: Principal, stream: Stream
    ) -> None:
        """Record the user's decision on one call; only the first one counts."""
        call = await self._find_waiting_call(session.session_id, answer.toolId)
        if answer.approved and call.kind == "client":
            await self._store_consent(call, principal, stream)
            return
        if answer.approved:
            waiting = self._core.approvals.find_pending(call.call_id)
            tool = self._core.registry.tools.get(call.tool_name)
            definition = None if tool is None else tool.definition
            self._check_approver(
                principal,
                session,
                definition if waiting is None else waiting.request.definition,
                None if waiting is None else waiting.request.preview,
            )
        if not await self._answers.record_answer(call, Verdict(answer.approved, by=principal.name)):
            raise await self._not_waiting_error(session.session_id, answer.toolId)
        if not answer.approved:
            stream.send_content(localized_text(self._locale, "cancelled"))
            stream.live.clear_answer()

    async def _store_consent(self, call: ChatCallRow, principal: Principal, stream: Stream) -> None:
        """Store that the user lets the client run a call; the call ends with the client's result."""
        consent: dict[str, str | int] = {"answered_by": principal.name, "needs_approval": 0}
        if not await self._chats.move_call(call.session_id, call.tool_id, "waiting", "waiting", **consent):
            raise await self._not_waiting_error(call.session_id, call.tool_id)
        stream.publish_tool_state(call.tool_id, "waiting", needsApproval=False, answeredBy=principal.name)

    async def _find_client_call(self, body: ChatBody) -> ChatCallRow | None:
        """Return the call whose result a message contains; None if it is an ordinary message."""
        if body.toolId is not None:
            call = await self._find_waiting_call(body.session_id, body.toolId)
            if call.kind != "client":
                raise ToolError("tool_call_not_found", f"call {body.toolId!r} does not run in the client")
            return call
        result = read_client_result(body.message)
        if result is None:
            return None
        for call in await self._chats.load_open_calls(body.session_id):
            if (call.kind, call.state, call.tool_name) == ("client", "waiting", result.tool_name):
                return call
        return None

    async def _store_client_result(self, body: ChatBody, call: ChatCallRow, stream: Stream, agent: AgentConfig) -> None:
        await self._core.policy.record_untrusted_source(body.session_id, call.tool_name)
        result = read_client_result(body.message)
        session = await self._chats.find_session(body.session_id)
        use_mark("" if session is None else session.mark)
        said = body.message if result is None else result.result
        save = partial(self._core.store.artifacts.save, session_id=body.session_id, call_id=call.call_id)
        registry = self._core.registry
        tools = registry.tools_at(stream.live.current_host(registry))
        reading = ArtifactReading(tools, ModelReader(agent.result_chars, agent.offers_tool))
        told = await client_output(said, call.tool_name, save, reading)
        envelope = {"ok": True, "content": [{"type": "text", "text": said}]}
        moved = await self._chats.move_call(
            body.session_id,
            call.tool_id,
            "waiting",
            "done",
            result=json.dumps(told, ensure_ascii=False),
            envelope=json.dumps(envelope, ensure_ascii=False),
        )
        if not moved:
            raise await self._not_waiting_error(body.session_id, call.tool_id)
        stream.publish_tool_result(call.tool_name, call.tool_id, envelope, is_told=False)

    async def _find_waiting_call(self, session_id: str, tool_id: str) -> ChatCallRow:
        call = await self._chats.find_call(session_id, tool_id)
        if call is None or call.state != "waiting":
            raise await self._not_waiting_error(session_id, tool_id)
        return call

    async def _not_waiting_error(self, session_id: str, tool_id: str) -> ToolError:
        call = await self._chats.find_call(session_id, tool_id)
        if call is None:
            return ToolError("tool_call_not_found", f"no call {tool_id!r} was made in this session", toolId=tool_id)
        return _already_answered_error(tool_id)

    async def _store_client_context(self, body: ChatBody) -> None:
        """Store the page, client tools and model sent with an answer, for the rest of the turn and after a restart."""
        values: dict[str, str | None] = {}
        if (page := body.current_page_info) is not None and page != PageInfo():
            await self._core.policy.record_untrusted_source(body.session_id, page_source(page, self._locale))
        if body.current_page_info is not None:
            values["page"] = page_json(body.current_page_info)
        if body.browser_tools is not None:
            values["client_tools"] = tools_json(body.browser_tools)
        if body.model:
            values["model"] = body.model
        if values:
            await self._chats.update_session(body.session_id, **values)

    # -- tasks and events --------------------------------------------------------------------------------------

    def _handle_decision_event(self, event: Event) -> None:
        if event.session_id is not None and not self._answers.is_recording_answer(event.data["callId"]):
            self._turns.spawn_task(self._apply_decision(event.session_id, event.data), event.session_id)

    async def _apply_decision(self, session_id: str, said: Mapping[str, Any]) -> None:
        """Continue with a call that the user decided elsewhere: in the terminal or the approval view."""
        call = await self._chats.find_waiting_call(said["callId"])
        if call is None:
            return
        after: Any = "approved" if said["approved"] else "rejected"
        if await self._chats.move_call(session_id, call.tool_id, "waiting", after, answered_by=said["by"]):
            stream = self._turns.open_stream(session_id)
            await self._turns.run_guarded(self._turns.continue_turn(session_id, stream), session_id, stream)

    def _handle_withdrawal_event(self, event: Event) -> None:
        if event.session_id is not None:
            work = self._settle_withdrawn_call(event.session_id, event.data["callId"])
            self._turns.spawn_task(work, event.session_id)

    async def _settle_withdrawn_call(self, session_id: str, call_id: str) -> None:
        """End a call that was withdrawn while it waited, so that it can no longer be decided, and continue the turn."""
        if await self._chats.find_waiting_call(call_id) is None:
            return
        stream = self._turns.open_stream(session_id)
        # a turn that withdraws a call itself also ends it before it releases the lock
        async with self._turns.lock_turn(session_id):
            call = await self._chats.find_waiting_call(call_id)
            if call is None:
                return
            await StoppedTurn(self._core, stream).settle_call(call)
        await self._turns.run_guarded(self._turns.continue_turn(session_id, stream), session_id, stream)

    def _handle_stop_event(self, event: Event) -> None:
        if event.data["stopped"]:
            for session_id in self._turns.busy_sessions:
                self._turns.stop_turns(session_id)

    async def _preload_engine(self) -> None:
        try:
            await self._turns.load_engine()
        except ToolError as exc:
            log.warning("chat_not_installed", error=exc.message)


def _already_answered_error(tool_id: str) -> ToolError:
    return ToolError("tool_call_answered", f"call {tool_id!r} was answered already", toolId=tool_id)
