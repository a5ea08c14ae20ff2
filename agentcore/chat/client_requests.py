"""Requests of clients to the chat endpoint: read, authorised, and passed to the sessions, as events for the client."""

import asyncio
from collections.abc import Callable

from agentcore.api import Principal
from agentcore.chat.client_context import dump_client_tools, dump_page
from agentcore.chat.client_messages import ChatBody, read_answer, read_client_result
from agentcore.chat.session.event_stream import Stream
from agentcore.chat.session.live_state import Sink
from agentcore.chat.sessions import AnsweringClient, Sessions
from agentcore.chat.settings import ChatSettings
from agentcore.chat.turn.turns import Outcome, Turns
from agentcore.core.policy.authority import Action, authorise, owner_of
from agentcore.errors import ToolError
from agentcore.store.chat.chat_rows import ChatCallRow, ChatSessionRow
from agentcore.store.chat.message_queue import UserMessage


class ClientRequests:
    """Handles requests of clients that wait for the events of their turn.

    Args:
        sessions: Carries the requests out.
        turns: Runs the tasks.
        settings: Returns the current models and agents.
    """

    def __init__(self, sessions: Sessions, turns: Turns, settings: Callable[[], ChatSettings]) -> None:
        self._sessions = sessions
        self._turns = turns
        self._settings = settings

    async def handle_request(self, body: ChatBody, principal: Principal, sink: Sink) -> None:
        """Handle a client's request, and continue the session; returns after the last event.

        Every failure is sent as an event. A client that disconnects (cancels this) does not end the turn.
        """
        stream = self._turns.open_stream(body.session_id, sink)
        work = self._turns.run_guarded(self._dispatch_request(body, principal, stream), body.session_id, stream)
        request = self._turns.spawn_task(work, body.session_id)
        # wait(), not await: the request and its tasks must not cancel each other
        await asyncio.wait({request})
        if not request.cancelled() and (turn := request.result()) is not None:
            await asyncio.wait({turn})

    async def _dispatch_request(self, body: ChatBody, principal: Principal, stream: Stream) -> Outcome:
        """Carry out a request; return the turn that it starts or continues, or the calls that wait if there is none."""
        self._settings().get_agent(body.agent_id)
        session_id = (await self._find_or_create_session(body, principal)).session_id
        client = AnsweringClient(stream, body.current_page_info, body.browser_tools, body.model or "")
        if body.role == "function":
            answer = read_answer(body.message)
            turn = await self._sessions.answer_call(
                session_id, answer.toolId, principal, is_approved=answer.approved, client=client
            )
            return turn or await self._turns.list_waiting_calls(session_id)
        call = await self._find_client_call(body)
        if call is not None:
            result = read_client_result(body.message)
            text = body.message if result is None else result.result
            return await self._sessions.answer_client_call(call, text, client)
        message = UserMessage(
            body.message,
            attachments=body.attachments,
            model=body.model or "",
            agent_id=body.agent_id,
            page=dump_page(body.current_page_info),
            client_tools=dump_client_tools(body.browser_tools),
        )
        return await self._sessions.stream_message(session_id, message, principal, stream)

    async def _find_or_create_session(self, body: ChatBody, principal: Principal) -> ChatSessionRow:
        """Return the session; create it at its first message.

        Raises:
            ToolError: `forbidden`: it belongs to another credential, or to another user.
        """
        if principal.kind == "client":
            return await self._find_session_for_client(body, principal)
        authorise(principal, "converse")
        session = await self._sessions.find_or_create_session(
            body.session_id, principal, user_id=body.user_id, agent_id=body.agent_id, model=body.model or ""
        )
        if (session.owner, session.user_id) != (owner_of(principal), body.user_id):
            raise ToolError("forbidden", f"session {body.session_id!r} is somebody else's; use one of your own")
        return session

    async def _find_session_for_client(self, body: ChatBody, principal: Principal) -> ChatSessionRow:
        """Return the session in which a paired client chats, or whose call it answers.

        Raises:
            ToolError: `session_not_found`, `forbidden`.
        """
        action: Action = "approve" if body.role == "function" else "converse"
        authorise(principal, action)
        try:
            session = await self._sessions.find_session(body.session_id)
        except ToolError as exc:
            # not created here: an id chosen by the client may be one under which others make calls
            message = f"there is no session {body.session_id!r}; a client makes one with POST /api/sessions"
            raise ToolError(exc.type, message, session_id=body.session_id) from exc
        authorise(principal, action, session.owner)
        is_own = session.owner == owner_of(principal)
        if not is_own and (body.browser_tools or body.current_page_info or body.model):
            message = "a client that only answers calls of a session cannot send tools, a page or a model"
            raise ToolError("forbidden", message, session_id=body.session_id)
        return session

    async def _find_client_call(self, body: ChatBody) -> ChatCallRow | None:
        """Return the call whose result a message contains; None if it is an ordinary message."""
        if body.toolId is not None:
            call = await self._sessions.find_waiting_call(body.session_id, body.toolId)
            if call.kind != "client":
                raise ToolError("tool_call_not_found", f"call {body.toolId!r} does not run in the client")
            return call
        result = read_client_result(body.message)
        return None if result is None else await self._sessions.find_client_call(body.session_id, result.tool_name)
