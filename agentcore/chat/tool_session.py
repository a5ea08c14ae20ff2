"""A chat session as the tools that it calls may use it: what was said, a summary in its place, things to do."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from agentcore.chat.bounds import TODOS, TODOS_BYTES
from agentcore.chat.session import transcript
from agentcore.chat.session.live import LiveSession
from agentcore.chat.texts import Locale, text
from agentcore.errors import ToolError
from agentcore.host import Host
from agentcore.store.chat import ChatMessageRow
from agentcore.valid_text import valid_text, with_valid_text


class ToolSession:
    """Implements `agentcore.api.context.ChatSession` for one session."""

    def __init__(self, host: Host, session_id: str, live: LiveSession) -> None:
        self._host, self._chats, self._session_id, self._live = host, host.store.chats, session_id, live
        self._locale: Locale = host.config.locale

    @property
    def todos(self) -> Sequence[Mapping[str, Any]]:
        """The session's list of things to do."""
        return tuple(self._live.todos)

    async def history(self) -> Sequence[Mapping[str, Any]]:
        """See `agentcore.api.context.ChatSession.history`."""
        rows = await self._chats.rows(self._session_id)
        calls = await self._chats.calls_of(self._session_id, transcript.called_in(rows))
        return [message.to_json() for message in transcript.to_messages(rows, calls, self._live.commands)]

    async def replace_with_summary(self, summary: str, *, keep_turns: int) -> int:
        """See `agentcore.api.context.ChatSession.replace_with_summary`.

        Raises:
            ToolError: `invalid_arguments`.
        """
        if not summary.strip() or keep_turns < 0:
            raise ToolError("invalid_arguments", "a summary needs text, and keep_turns is at least 0")
        rows = [row for row in await self._chats.rows(self._session_id) if row.kind == "said"]
        session = await self._chats.find(self._session_id)
        before = await self._boundary(rows, keep_turns)
        known = 0 if session is None else session.summarised_before
        replaced = [row for row in rows if known <= row.number < before]
        if not replaced:
            return 0
        said = text(self._locale, "summary", summary=valid_text(summary))
        message = [{"kind": "request", "parts": [{"part_kind": "user-prompt", "content": said}]}]
        stored = json.dumps(message, ensure_ascii=False)
        await self._chats.change(self._session_id, summary=stored, summarised_before=before)
        self._live.must_reload = True
        return len(replaced)

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
        await self._chats.change(self._session_id, todos=stored)
        self._live.todos = kept
        self._host.events.publish("session.todos", {"todos": kept}, session_id=self._session_id)

    async def _boundary(self, rows: Sequence[ChatMessageRow], keep_turns: int) -> int:
        """The first message that the model is still told."""
        turns = [row.number for row in rows if transcript.prompt_of(row) is not None]
        if keep_turns:
            return turns[-keep_turns] if keep_turns <= len(turns) else 0
        unanswered = {call.tool_id for call in await self._chats.open_calls(self._session_id)}
        for row in rows:
            if unanswered & set(transcript.called_in([row])):
                return row.number
        return rows[-1].number + 1 if rows else 0
