"""The chat of a host: takes messages, results and approvals of clients, and lets turns go on."""

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
from agentcore.chat.texts import text
from agentcore.chat.tool_chat import ToolChat
from agentcore.chat.turn.call_answers import CallAnswers
from agentcore.chat.turn.prompts import page_source
from agentcore.chat.turn.stopping import StoppedTurn
from agentcore.chat.turn.tool_output import client_output
from agentcore.chat.turn.turns import Turns
from agentcore.chat.turn.untrusted import use_mark
from agentcore.chat.wire import CallAnswer, ChatBody, PageInfo, read_answer, read_client_result
from agentcore.core import Host
from agentcore.core.approvals import ApprovalRequest, Verdict, check_approver
from agentcore.core.calls import ArtifactReading, ModelReader
from agentcore.core.events import Event
from agentcore.core.policy import Action, authorise, owner_of
from agentcore.errors import ToolError
from agentcore.store.chat import ChatCallRow, ChatSessionRow, PersonMessage

log = structlog.get_logger(__name__)


class Chat:
    """The chat of one host. Closed before the host is stopped.

    Args:
        host: Carries out the calls.
        environ: Where keys and addresses of providers stand.

    Attributes:
        conversations: Sessions as a page uses them.
        queue: What persons say in them.
        system_messages: What sessions' models are told before the conversation.
        setup: Models and agents.
    """

    def __init__(self, host: Host, environ: Mapping[str, str] = os.environ) -> None:
        self._host, self._chats = host, host.store.chats
        self.setup = ModelSetup(host, environ)
        self._locale = host.config.locale
        self._turns = Turns(host, lambda: self.setup.settings)
        self._answers = CallAnswers(host)
        self.conversations = Conversations(host, self._turns, self._answers, lambda: self.setup.settings)
        self.queue = MessageQueue(host, self._turns)
        self.system_messages = SystemMessages(host, lambda: self.setup.settings)
        host.conversation.chat = ToolChat(host, self._turns, lambda: self.setup.settings)
        self._unsubscribe = (
            host.events.subscribe("approval.decided", self._notice_decision),
            host.events.subscribe("approval.withdrawn", self._notice_withdrawal),
            host.events.subscribe("stop.changed", self._notice_stop),
        )
        if host.config.approvals.api_token:
            log.warning("api_token_approves", hint="anybody who reads the token can approve calls of a model")

    async def post(self, body: ChatBody, principal: Principal, sink: Sink) -> None:
        """Take what a client sends, and go on with the session; returns after the last event.

        Every failure is an event. A client that goes away (cancels this) does not end the turn.
        """
        stream = self._turns.stream(body.session_id, sink)
        # waited for and not awaited: neither end of the two takes the other with it
        work = self._turns.guarded(self._dispatch(body, principal, stream), body.session_id, stream)
        await asyncio.wait({self._turns.spawn(work, body.session_id)})

    async def resume(self) -> None:
        """Let turns go on that were cut off by the end of the last process. Called when the modules have started."""
        for request, verdict in self._host.approvals.unused:
            said = {"callId": request.call_id, "approved": verdict.approved, "by": verdict.by}
            self._turns.spawn(self._take_decision(request.session_id, said), request.session_id)
        for session_id, call_id in await self._chats.asked_calls():
            # what the queue could not take back (its tool is gone) can be answered by nobody
            if self._host.approvals.find(call_id) is None and not self._host.approvals.is_away(call_id):
                self._turns.spawn(self._end_withdrawn(session_id, call_id), session_id)
        for session_id in await self._chats.cut_off():
            log.info("session_resumed", session_id=session_id)
            stream = self._turns.stream(session_id)
            work = self._turns.guarded(self._turns.go_on(session_id, stream), session_id, stream)
            self._turns.spawn(work, session_id)

    def warm(self) -> None:
        """Import what asking a model takes, in the background, if there is any model to ask."""
        if self.setup.is_set_up:
            self._turns.spawn(self._warm(), "")

    def end_turns(self, session_id: str) -> None:
        """End what goes on in a session, because whoever began it may not any more."""
        self._turns.stop(session_id)

    async def close(self) -> None:
        """End all turns as a restart does: they go on afterwards. May be called twice."""
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        await self._turns.close()
        self._host.conversation.chat = None

    # -- what comes in -----------------------------------------------------------------------------------------

    async def _dispatch(self, body: ChatBody, principal: Principal, stream: Stream) -> list[str]:
        settings = self.setup.settings
        agent = settings.agent(body.agent_id)
        session = await self._session(body, principal)
        if body.role == "function":
            answer = read_answer(body.message)
            if (request := self._inner_call(body.session_id, answer.toolId)) is not None:
                # its turn goes on where it goes on already
                await self._take_inner_answer(request, answer, session, principal, stream)
                return await self._turns.waiting(body.session_id)
            await self._take_answer(answer, session, principal, stream)
            return await self._continue(session.session_id, stream, body)
        call = await self._find_client_call(body)
        if call is not None:
            await self._take_result(body, call, stream, settings.agent(session.agent_id))
            return await self._continue(session.session_id, stream, body)
        settings.choose(body.model or None, agent)
        self._turns.check_idle(session.session_id)
        await self._turns.hold(session.session_id, body.attachments, principal)
        async with self._turns.holding(session.session_id):
            async with self._turns.sending(session.session_id, body.attachments):
                chosen = {"agent_id": body.agent_id} | ({"model": body.model} if body.model else {})
                await self._chats.change(session.session_id, **chosen)
                turn = await self._turns.turn(session.session_id, stream)
                await turn.take(
                    PersonMessage(
                        body.message,
                        attachments=body.attachments,
                        page=page_json(body.current_page_info),
                        client_tools=tools_json(body.browser_tools),
                    )
                )
            return await self._turns.carry(turn, session.session_id)

    async def _continue(self, session_id: str, stream: Stream, body: ChatBody) -> list[str]:
        async with self._turns.lock(session_id):
            await self._keep_context(body)
        return await self._turns.go_on(session_id, stream)

    async def _session(self, body: ChatBody, principal: Principal) -> ChatSessionRow:
        """The session, made at its first message.

        Raises:
            ToolError: `forbidden`: it is another credential's, or another user's.
        """
        session = await self._chats.find(body.session_id)
        if principal.kind == "client":
            return self._session_for_client(session, body, principal)
        authorise(principal, "converse")
        if session is None:
            session = await self._chats.create(
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
        """The session that a paired client talks in, or whose call it answers.

        Raises:
            ToolError: `session_not_found`, `forbidden`.
        """
        is_answer = body.role == "function"
        action: Action = "approve" if is_answer else "converse"
        authorise(principal, action)
        if session is None:
            # not made here: a name of the client's choice could be one under which calls of others run
            message = f"there is no session {body.session_id!r}; a client makes one with POST /api/sessions"
            raise ToolError("session_not_found", message, session_id=body.session_id)
        authorise(principal, action, session.owner)
        is_own = session.owner == owner_of(principal)
        if not is_own and (body.browser_tools or body.current_page_info or body.model):
            message = "whoever only answers calls of a session brings it neither tools nor a page nor a model"
            raise ToolError("forbidden", message, session_id=body.session_id)
        return session

    def _inner_call(self, session_id: str, tool_id: str) -> ApprovalRequest | None:
        """A call that waits for a person inside of a call of the session."""
        live = self._turns.live.find(session_id)
        pending = None if live is None else self._host.approvals.find(live.inner.get(tool_id, ""))
        return None if pending is None else pending.request

    async def _take_inner_answer(
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
            await self._host.approvals.decide(request.call_id, Verdict(answer.approved, by=principal.name))
        except ToolError as exc:
            if exc.type != "approval_not_found":
                raise
            raise _answered(answer.toolId) from exc
        if not answer.approved:
            stream.send({"content": text(self._locale, "cancelled")})

    def _check_approver(
        self,
        principal: Principal,
        session: ChatSessionRow,
        definition: ToolDefinition | None,
        preview: CallPreview | None,
    ) -> None:
        api_token_approves = self._host.policy.config.api_token
        check_approver(
            principal, definition, preview, api_token_approves=api_token_approves, session_owner=session.owner
        )

    async def _take_answer(
        self, answer: CallAnswer, session: ChatSessionRow, principal: Principal, stream: Stream
    ) -> None:
        """Keep a person's answer to one call: it counts once."""
        call = await self._waiting_call(session.session_id, answer.toolId)
        if answer.approved and call.kind == "client":
            await self._take_consent(call, principal, stream)
            return
        if answer.approved:
            waiting = self._host.approvals.find(call.call_id)
            tool = self._host.registry.tools.get(call.tool_name)
            definition = None if tool is None else tool.definition
            self._check_approver(
                principal,
                session,
                definition if waiting is None else waiting.request.definition,
                None if waiting is None else waiting.request.preview,
            )
        if not await self._answers.take(call, Verdict(answer.approved, by=principal.name)):
            raise await self._not_waiting(session.session_id, answer.toolId)
        if not answer.approved:
            stream.content(text(self._locale, "cancelled"))
            stream.live.clear()

    async def _take_consent(self, call: ChatCallRow, principal: Principal, stream: Stream) -> None:
        """Keep that a person lets the client run a call; its result is what counts."""
        consent: dict[str, str | int] = {"answered_by": principal.name, "needs_approval": 0}
        if not await self._chats.move(call.session_id, call.tool_id, "waiting", "waiting", **consent):
            raise await self._not_waiting(call.session_id, call.tool_id)
        stream.tool_state(call.tool_id, "waiting", needsApproval=False, answeredBy=principal.name)

    async def _find_client_call(self, body: ChatBody) -> ChatCallRow | None:
        """The call whose result a message is; None: it is an ordinary message."""
        if body.toolId is not None:
            call = await self._waiting_call(body.session_id, body.toolId)
            if call.kind != "client":
                raise ToolError("tool_call_not_found", f"call {body.toolId!r} does not run in the client")
            return call
        result = read_client_result(body.message)
        if result is None:
            return None
        for call in await self._chats.open_calls(body.session_id):
            if (call.kind, call.state, call.tool_name) == ("client", "waiting", result.tool_name):
                return call
        return None

    async def _take_result(self, body: ChatBody, call: ChatCallRow, stream: Stream, agent: AgentConfig) -> None:
        await self._host.policy.note_source(body.session_id, call.tool_name)
        result = read_client_result(body.message)
        session = await self._chats.find(body.session_id)
        use_mark("" if session is None else session.mark)
        said = body.message if result is None else result.result
        save = partial(self._host.store.artifacts.save, session_id=body.session_id, call_id=call.call_id)
        registry = self._host.registry
        tools = registry.tools_at(stream.live.where(registry))
        reading = ArtifactReading(tools, ModelReader(agent.result_chars, agent.offers))
        told = await client_output(said, call.tool_name, save, reading)
        envelope = {"ok": True, "content": [{"type": "text", "text": said}]}
        moved = await self._chats.move(
            body.session_id,
            call.tool_id,
            "waiting",
            "done",
            result=json.dumps(told, ensure_ascii=False),
            envelope=json.dumps(envelope, ensure_ascii=False),
        )
        if not moved:
            raise await self._not_waiting(body.session_id, call.tool_id)
        stream.tool_result(call.tool_name, call.tool_id, envelope, is_told=False)

    async def _waiting_call(self, session_id: str, tool_id: str) -> ChatCallRow:
        call = await self._chats.find_call(session_id, tool_id)
        if call is None or call.state != "waiting":
            raise await self._not_waiting(session_id, tool_id)
        return call

    async def _not_waiting(self, session_id: str, tool_id: str) -> ToolError:
        call = await self._chats.find_call(session_id, tool_id)
        if call is None:
            return ToolError("tool_call_not_found", f"no call {tool_id!r} was made in this session", toolId=tool_id)
        return _answered(tool_id)

    async def _keep_context(self, body: ChatBody) -> None:
        """Keep page, client tools and model that an answer brings for the rest of the turn, and for after a restart."""
        values: dict[str, str | None] = {}
        if (page := body.current_page_info) is not None and page != PageInfo():
            await self._host.policy.note_source(body.session_id, page_source(page, self._locale))
        if body.current_page_info is not None:
            values["page"] = page_json(body.current_page_info)
        if body.browser_tools is not None:
            values["client_tools"] = tools_json(body.browser_tools)
        if body.model:
            values["model"] = body.model
        if values:
            await self._chats.change(body.session_id, **values)

    # -- tasks and events --------------------------------------------------------------------------------------

    def _notice_decision(self, event: Event) -> None:
        if event.session_id is not None and not self._answers.is_taking(event.data["callId"]):
            self._turns.spawn(self._take_decision(event.session_id, event.data), event.session_id)

    async def _take_decision(self, session_id: str, said: Mapping[str, Any]) -> None:
        """Go on with a call that a person decided elsewhere: at the terminal, in the approval view."""
        call = await self._chats.call_of_host(said["callId"])
        if call is None:
            return
        after: Any = "approved" if said["approved"] else "rejected"
        if await self._chats.move(session_id, call.tool_id, "waiting", after, answered_by=said["by"]):
            stream = self._turns.stream(session_id)
            await self._turns.guarded(self._turns.go_on(session_id, stream), session_id, stream)

    def _notice_withdrawal(self, event: Event) -> None:
        if event.session_id is not None:
            work = self._end_withdrawn(event.session_id, event.data["callId"])
            self._turns.spawn(work, event.session_id)

    async def _end_withdrawn(self, session_id: str, call_id: str) -> None:
        """End a call that was cancelled while it waited, and go on: nobody can answer it any more."""
        if await self._chats.call_of_host(call_id) is None:
            return
        stream = self._turns.stream(session_id)
        # a turn that withdraws a call itself also gives it its end, before it lets go of the session
        async with self._turns.holding(session_id):
            call = await self._chats.call_of_host(call_id)
            if call is None:
                return
            await StoppedTurn(self._host, stream).settle_call(call)
        await self._turns.guarded(self._turns.go_on(session_id, stream), session_id, stream)

    def _notice_stop(self, event: Event) -> None:
        if event.data["stopped"]:
            for session_id in self._turns.busy:
                self._turns.stop(session_id)

    async def _warm(self) -> None:
        try:
            await self._turns.load_engine()
        except ToolError as exc:
            log.warning("chat_not_installed", error=exc.message)


def _answered(tool_id: str) -> ToolError:
    return ToolError("tool_call_answered", f"call {tool_id!r} was answered already", toolId=tool_id)
