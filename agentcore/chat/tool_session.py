"""A chat session as the tools that it calls may use it: what was said, a summary in its place, things to do."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from agentcore.chat.bounds import TODOS, TODOS_BYTES
from agentcore.chat.session import transcript
from agentcore.chat.session.live import LiveSession
from agentcore.core import Core
from agentcore.errors import ToolError
from agentcore.valid_text import valid_text, with_valid_text

Compact = Callable[[str | None, int], Awaitable[tuple[int, str]]]


class ToolSession:
    """Implements `agentcore.api.context.ChatSession` for one session.

    Args:
        host: Has the store.
        session_id: The session.
        live: Its live side.
        compact: Puts a summary (None: one that the model writes) in place of all but so many turns.
    """

    def __init__(self, core: Core, session_id: str, live: LiveSession, compact: Compact) -> None:
        self._core = core
        self._chats = core.store.chats
        self._session_id = session_id
        self._live = live
        self._compact = compact

    @property
    def todos(self) -> Sequence[Mapping[str, Any]]:
        """The session's list of things to do."""
        return tuple(self._live.todos)

    async def history(self) -> Sequence[Mapping[str, Any]]:
        """See `agentcore.api.context.ChatSession.history`."""
        rows = await self._chats.load_history(self._session_id)
        calls = await self._chats.load_calls(self._session_id, transcript.list_call_ids(rows))
        return [message.to_json() for message in transcript.to_messages(rows, calls, self._live.commands)]

    async def compact(self, summary: str | None = None, *, keep_turns: int) -> tuple[int, str]:
        """See `agentcore.api.context.ChatSession.compact`.

        Raises:
            ToolError: `invalid_arguments`.
        """
        if (summary is not None and not summary.strip()) or keep_turns < 0:
            raise ToolError("invalid_arguments", "a summary needs text, and keep_turns is at least 0")
        return await self._compact(None if summary is None else valid_text(summary), keep_turns)

    async def replace_with_summary(self, summary: str, *, keep_turns: int) -> int:
        """See `agentcore.api.context.ChatSession.replace_with_summary`.

        Raises:
            ToolError: `invalid_arguments`.
        """
        replaced, _ = await self.compact(summary, keep_turns=keep_turns)
        return replaced

    async def set_todos(self, todos: Sequence[Mapping[str, Any]]) -> None:
        """See `agentcore.api.context.ChatSession.set_todos`.

        Raises:
            ToolError: `invalid_arguments`: too many, or too long.
        """
        kept = [with_valid_text(dict(todo)) for todo in todos]
        stored = json.dumps(kept, ensure_ascii=False)
        if len(kept) > TODOS or len(stored.encode()) > TODOS_BYTES:
            message = f"at most {TODOS} things to do, {TODOS_BYTES:,} bytes in all; there are {len(kept)}"
            raise ToolError("invalid_arguments", message, limit=TODOS)
        await self._chats.update_session(self._session_id, todos=stored)
        self._live.todos = kept
        self._core.events.publish("session.todos", {"todos": kept}, session_id=self._session_id)
