"""User messages of a session: each starts a turn if none is running, else it waits or joins the running one."""

import secrets
import time
from functools import partial
from typing import Literal

from agentcore.api import Principal
from agentcore.chat.bounds import QUEUED_CHARS, QUEUED_MESSAGES
from agentcore.chat.session.queue import publish_queue, queue_view
from agentcore.chat.session.stream import Stream
from agentcore.chat.session.view import QueueView
from agentcore.chat.texts import result_text
from agentcore.chat.turn.turns import Turns, Work
from agentcore.core import Core
from agentcore.core.policy import owner_of
from agentcore.errors import ToolError
from agentcore.store.chat import ChatSessionRow, MessageTime, UserMessage

SentState = Literal["started", "queued", "steering"]
"""State of a sent message: its turn has started, it waits for its turn, or it joins the turn's next request."""


class MessageQueue:
    """The messages of users, from when they are sent until a turn takes them.

    Args:
        core: Stores them.
        turns: Runs the turns.
    """

    def __init__(self, core: Core, turns: Turns) -> None:
        self._core = core
        self._chats = core.store.chats
        self._turns = turns
        turns.on_rest = self._advance_soon

    # -- for users -------------------------------------------------------------------------------------------------

    async def describe_queue(self, session_id: str) -> QueueView:
        """Return the waiting messages.

        Raises:
            ToolError: `session_not_found`.
        """
        await self._find_session(session_id)
        return await queue_view(self._chats, session_id)

    async def send_message(self, session_id: str, message: UserMessage, by: Principal) -> tuple[str, SentState]:
        """Accept a user message; its effects are published as events. Return its id and its state.

        A paused queue resumes after it.

        Args:
            session_id: The session.
            message: The message.
            by: Who sends it; the attachments must belong to them.
        Raises:
            ToolError: `session_not_found`, `forbidden`, `queue_full`, `agent_not_found`, `model_not_found`,
                `model_not_configured`, `artifact_not_found`, `attachments_full`.
        """
        session = await self._find_session(session_id)
        if (message.page or message.client_tools) and session.owner != owner_of(by):
            error = "page and tools come from whoever made the session; send the message without them"
            raise ToolError("forbidden", error, session_id=session_id)
        await self._turns.check_can_start(session, model=message.model, agent_id=message.agent_id)
        named = message._replace(message_id=f"m_{secrets.token_hex(8)}", created_at_ms=time.time_ns() // 1_000_000)
        # a message that starts its own turn need not be stored in the queue first
        at_once = named._replace(message_id="")
        await self._turns.pin_attachments(session_id, message.attachments, by)
        async with self._turns.unpin_if_unsent(session_id, message.attachments):
            has_begun = await self._turns.start_if_idle(session_id, partial(self._choose_first, session_id, at_once))
            if not has_begun:
                await self._enqueue(session_id, named)
        await self._resume_queue(session_id)
        if has_begun:
            return named.message_id, "started"
        await self._advance(session_id)
        waiting = (await self._chats.queue.load_queue(session_id)).messages
        if all(each.message_id != named.message_id for each in waiting):
            return named.message_id, "started"
        return named.message_id, "steering" if named.when == "steer" else "queued"

    async def change_message(
        self, session_id: str, message_id: str, *, text: str | None, when: MessageTime | None
    ) -> QueueView:
        """Change a waiting message.

        Raises:
            ToolError: `session_not_found`, `message_not_found`, `queue_full`.
        """
        await self._find_session(session_id)
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

    async def remove_message(self, session_id: str, message_id: str) -> QueueView:
        """Remove a waiting message.

        Raises:
            ToolError: `session_not_found`, `message_not_found`.
        """
        await self._find_session(session_id)
        before = (await self._chats.queue.load_queue(session_id)).messages
        if not await self._chats.queue.delete_message(session_id, message_id):
            raise _message_gone_error(message_id)
        attached = {message.message_id: set(message.attachments) for message in before}
        freed = attached.pop(message_id, set()).difference(*attached.values())
        await self._core.store.artifacts.unpin_artifacts(sorted(freed), session_id)
        await self._publish_queue(session_id)
        return await queue_view(self._chats, session_id)

    async def set_paused(self, session_id: str, *, is_paused: bool) -> QueueView:
        """Pause or resume the queue.

        Raises:
            ToolError: `session_not_found`.
        """
        await self._find_session(session_id)
        if not is_paused:
            await self._resume_queue(session_id)
            await self._advance(session_id)
        elif await self._chats.queue.set_paused(session_id, is_paused=True):
            await self._publish_queue(session_id)
        return await queue_view(self._chats, session_id)

    # -- sending ---------------------------------------------------------------------------------------------------

    async def _enqueue(self, session_id: str, message: UserMessage) -> None:
        if not await self._chats.queue.add_message(
            session_id, message, limit=QUEUED_MESSAGES, limit_chars=QUEUED_CHARS
        ):
            raise _queue_full_error()
        await self._publish_queue(session_id)
        if message.when == "steer":
            await self._steer_turn(session_id)

    async def _steer_turn(self, session_id: str) -> None:
        """Notify the running turn of a steering message; a turn that waits for calls continues with it."""
        live = self._turns.live.find(session_id)
        if live is not None:
            live.may_be_steered = True
            for call_id in list(live.inner.values()):  # pending nested calls would block the turn
                if (pending := self._core.approvals.find_pending(call_id)) is not None:
                    await pending.withdraw(result_text("superseded"))
        await self._advance(session_id)

    async def _resume_queue(self, session_id: str) -> None:
        if await self._chats.queue.set_paused(session_id, is_paused=False):
            await self._publish_queue(session_id)

    def _advance_soon(self, session_id: str) -> None:
        self._turns.spawn_task(self._advance(session_id), "")

    async def _advance(self, session_id: str) -> None:
        """Start the turn of the next message, if nothing prevents it."""
        while True:
            live = self._turns.live.get_or_create(session_id)
            has_begun = await self._turns.start_if_idle(session_id, partial(self._choose_next, session_id))
            if has_begun or live.turn.locked() or not live.must_advance:
                self._turns.remove_if_idle(session_id)
                return
            live.must_advance = False

    async def _choose_first(self, session_id: str, message: UserMessage) -> Work | None:
        """Return the work for a new message; None if it does not steer and other messages or calls come first."""
        if message.when == "queue":
            queue = await self._chats.queue.load_queue(session_id)
            if (queue.messages and not queue.is_paused) or await self._is_waiting(session_id):
                return None
        return partial(self._run_message, session_id, message)

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
            async with self._turns.unpin_if_unsent(session_id, () if message.message_id else message.attachments):
                if values:
                    await self._chats.update_session(session_id, **values)
                turn = await self._turns.load_turn(session_id, stream)
                await turn.start_with_message(message)
        except ToolError as exc:
            await self._turns.store_turn_error(session_id, exc)
            raise
        return await self._turns.run_turn(turn, session_id)

    async def _is_waiting(self, session_id: str) -> bool:
        """True while calls of the session wait for an answer."""
        return any(call.state == "waiting" for call in await self._chats.load_open_calls(session_id))

    # -- helpers ---------------------------------------------------------------------------------------------------

    async def _publish_queue(self, session_id: str) -> None:
        await publish_queue(self._chats, self._turns.open_stream(session_id))

    async def _find_session(self, session_id: str) -> ChatSessionRow:
        row = await self._chats.find_session(session_id)
        if row is None:
            raise ToolError("session_not_found", f"there is no session {session_id!r}", session_id=session_id)
        return row


def _queue_full_error() -> ToolError:
    message = (
        f"{QUEUED_MESSAGES} messages, {QUEUED_CHARS:,} characters in all, can wait in one session; wait until some "
        "have gone out, or take some out"
    )
    return ToolError("queue_full", message, retryable=True, limit=QUEUED_MESSAGES)


def _message_gone_error(message_id: str) -> ToolError:
    return ToolError("message_not_found", f"no message {message_id!r} waits: it has gone out, or was taken out")
