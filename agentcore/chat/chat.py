"""The chat of a core: its sessions, and what starts and ends them beside their users."""

import os
from collections.abc import Mapping
from typing import Any

import structlog

from agentcore.chat.client_requests import ClientRequests
from agentcore.chat.sessions import Sessions
from agentcore.chat.setup import ModelSetup
from agentcore.chat.system_message import SystemMessages
from agentcore.chat.tool_chat import ToolChat
from agentcore.chat.turn.call_answers import CallAnswers
from agentcore.chat.turn.stopping import StoppedTurn
from agentcore.chat.turn.turns import Turns
from agentcore.core.core import Core
from agentcore.core.events import Event
from agentcore.errors import ToolError
from agentcore.store.chat.chat_rows import ChatCallState

log = structlog.get_logger(__name__)


class Chat:
    """The chat of one core. Closed before the core is stopped.

    Args:
        core: Runs the calls.
        environ: Environment with the keys and addresses of providers.

    Attributes:
        sessions: The service through which surfaces read, send, stop and answer.
        client_requests: Requests of clients that wait for the events of their turn.
        system_messages: System messages of the sessions.
        setup: Models and agents.
    """

    def __init__(self, core: Core, environ: Mapping[str, str] = os.environ) -> None:
        self._core = core
        self._chats = core.store.chats
        self.setup = ModelSetup(core, environ)
        self._turns = Turns(core, lambda: self.setup.settings)
        self._answers = CallAnswers(core, self._turns.live)
        self.sessions = Sessions(core, self._turns, self._answers, lambda: self.setup.settings)
        self.client_requests = ClientRequests(self.sessions, self._turns, lambda: self.setup.settings)
        self.system_messages = SystemMessages(core, self.sessions, lambda: self.setup.settings)
        core.conversation.chat = ToolChat(core, self.sessions, self._turns, lambda: self.setup.settings)
        self._unsubscribe = (
            core.events.subscribe("approval.decided", self._handle_decision_event),
            core.events.subscribe("approval.withdrawn", self._handle_withdrawal_event),
            core.events.subscribe("stop.changed", self._handle_stop_event),
        )

    @property
    def is_busy(self) -> bool:
        """True while a turn runs in any session."""
        return bool(self._turns.busy_sessions)

    async def resume_turns(self) -> None:
        """Resume the turns that the end of the last process interrupted. Called when the modules have started."""
        for request, verdict in self._core.approvals.unused_verdicts:
            decision = {"callId": request.call_id, "approved": verdict.approved, "by": verdict.by}
            self._turns.spawn_task(self._apply_decision(request.session_id, decision), request.session_id)
        for session_id, call_id in await self._chats.load_asked_calls():
            # a request that the queue could not restore, because its tool is gone, can no longer be decided
            if self._core.approvals.find_pending(call_id) is None and not self._core.approvals.is_away(call_id):
                self._turns.spawn_task(self._settle_withdrawn_call(session_id, call_id), session_id)
        for session_id in await self._chats.find_interrupted_sessions():
            log.info("session_resumed", session_id=session_id)
            self._turns.start_continuation(session_id)

    def preload_engine(self) -> None:
        """Import the model libraries in the background, if a model is set up."""
        if self.setup.is_set_up:
            self._turns.spawn_task(self._preload_engine(), "")

    async def close(self) -> None:
        """Cancel all turns; they resume after a restart. Safe to call twice."""
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        await self._turns.close()
        self._core.conversation.chat = None

    # -- tasks and events --------------------------------------------------------------------------------------

    def _handle_decision_event(self, event: Event) -> None:
        if event.session_id is not None and not self._answers.is_recording_answer(event.data["callId"]):
            self._turns.spawn_task(self._apply_decision(event.session_id, event.data), event.session_id)

    async def _apply_decision(self, session_id: str, decision: Mapping[str, Any]) -> None:
        """Continue with a call that the user decided elsewhere: in the terminal or the approval view."""
        call = await self._chats.find_waiting_call(decision["callId"])
        if call is None:
            return
        after: ChatCallState = "approved" if decision["approved"] else "rejected"
        if await self._chats.move_call(session_id, call.tool_id, "waiting", after, answered_by=decision["by"]):
            self._turns.start_continuation(session_id)

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
        async with stream.live.turn.lock_session():
            call = await self._chats.find_waiting_call(call_id)
            if call is None:
                return
            await StoppedTurn(self._core, stream).settle_call(call)
        self._turns.start_continuation(session_id, stream)

    def _handle_stop_event(self, event: Event) -> None:
        if event.data["stopped"]:
            for session_id in self._turns.busy_sessions:
                self._turns.stop_turns(session_id)

    async def _preload_engine(self) -> None:
        try:
            await self._turns.load_engine()
        except ToolError as exc:
            log.warning("chat_not_installed", error=exc.message)
