"""A chat session as its tools may use it: its messages, compaction, and to-do list."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from agentcore.chat.session.live_state import LiveSession
from agentcore.chat.sessions import Sessions
from agentcore.core.core import Core
from agentcore.errors import ToolError
from agentcore.valid_text import valid_text

Compact = Callable[[str | None, int], Awaitable[tuple[int, str]]]


class ToolSession:
    """Implements `agentcore.api.tool_context.ChatSession` for one session.

    Args:
        core: Provides the store.
        sessions: Reads the messages.
        session_id: The session.
        live: Its in-memory state.
        compact: Replaces all but the given number of turns with a summary (None: the model writes it).
    """

    def __init__(self, core: Core, sessions: Sessions, session_id: str, live: LiveSession, compact: Compact) -> None:
        self._core = core
        self._sessions = sessions
        self._session_id = session_id
        self._live = live
        self._compact = compact

    @property
    def todos(self) -> Sequence[Mapping[str, Any]]:
        """The session's to-do list."""
        return tuple(self._live.todos)

    async def list_work(self, artifacts: int) -> Mapping[str, Any]:
        """Return the resources, running sub-agents and newest artifacts of the session."""
        registry = self._core.resources
        newest = await self._core.store.artifacts.list_newest(artifacts, session_id=self._session_id)
        prompts = self._live.agent_prompts
        return {
            "resources": [
                {**registry.to_json(resource), "shortId": resource.short_id}
                for resource in registry.list(session_id=self._session_id)
            ],
            "subAgents": [
                {"callId": call_id, "depth": depth, "prompt": prompts.get(call_id, "")}
                for call_id, depth in self._live.agents.items()
            ],
            "artifacts": [
                {
                    "artifactId": artifact.artifact_id,
                    "name": artifact.name,
                    "mime": artifact.mime,
                    "sizeBytes": artifact.size_bytes,
                    "createdAt": artifact.created_at_ms,
                }
                for _, artifact in newest
            ],
        }

    async def history(self) -> Sequence[Mapping[str, Any]]:
        """Return the messages of the session as JSON values."""
        return [message.to_json() for message in await self._sessions.load_transcript(self._session_id)]

    async def compact(self, summary: str | None = None, *, keep_turns: int) -> tuple[int, str]:
        """Replace all but the last turns with a summary; return the number of replaced messages, and the summary.

        Raises:
            ToolError: `invalid_arguments`.
        """
        if (summary is not None and not summary.strip()) or keep_turns < 0:
            raise ToolError("invalid_arguments", "a summary needs text, and keep_turns is at least 0")
        return await self._compact(None if summary is None else valid_text(summary), keep_turns)

    async def replace_with_summary(self, summary: str, *, keep_turns: int) -> int:
        """Replace all but the last turns with the given summary; return the number of replaced messages.

        Raises:
            ToolError: `invalid_arguments`.
        """
        replaced, _ = await self.compact(summary, keep_turns=keep_turns)
        return replaced

    async def set_todos(self, todos: Sequence[Mapping[str, Any]]) -> None:
        """Replace the session's to-do list, and publish it.

        Raises:
            ToolError: `invalid_arguments`: too many, or too long.
        """
        await self._sessions.change_todos(self._session_id, todos)
