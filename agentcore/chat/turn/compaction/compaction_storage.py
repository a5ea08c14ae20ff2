"""Stores compactions: those of a session with the session, those of a sub-agent only as a notice."""

from collections.abc import Awaitable, Callable
from typing import Any

import structlog
from pydantic_ai.messages import ModelResponse

from agentcore.chat.session.event_stream import Stream
from agentcore.chat.session.session_view import CompactionView
from agentcore.chat.session.transcript import create_notice
from agentcore.chat.turn import history
from agentcore.chat.turn.compaction.plan import CompactionResult
from agentcore.core.calls.call import ModelReader
from agentcore.core.calls.result_shortening import ArtifactReading
from agentcore.core.core import Core
from agentcore.errors import ToolError
from agentcore.store.chat.chat_rows import StoredCompaction

log = structlog.get_logger(__name__)

Count = Callable[[ModelResponse], Awaitable[None]]
"""Counts the tokens of an answer."""


class _Keeper:
    """Implements `CompactionKeeper` except for `store_compaction`."""

    def __init__(self, core: Core, session_id: str, stream: Stream, count: Count, reader: ModelReader) -> None:
        self._core = core
        self._session_id = session_id
        self._stream = stream
        self._count = count
        registry = core.registry
        self._reading = ArtifactReading(registry.tools_at(stream.live.current_host(registry)), reader)

    def call_for(self, artifact_id: str) -> str:
        return self._reading.describe_call(artifact_id)

    async def count_usage(self, response: ModelResponse) -> None:
        await self._count(response)

    async def save_artifact(self, data: bytes, mime: str, name: str, *, is_untrusted: bool) -> str | None:
        try:
            link = await self._core.store.artifacts.save(
                data, mime=mime, name=name, session_id=self._session_id, is_untrusted=is_untrusted
            )
        except ToolError as exc:
            log.warning("result_not_kept", session_id=self._session_id, error=exc.type)
            return None
        return link.artifact_id

    async def load_artifact(self, artifact_id: str) -> bytes | None:
        try:
            return await self._core.store.artifacts.load(artifact_id)
        except ToolError:  # it was deleted; a note takes its place
            return None

    async def post_notice(self, text: str) -> None:
        thread = {} if self._stream.thread is None else {"thread": self._stream.thread}
        (number,) = await self._core.store.chats.append_messages(self._session_id, [create_notice(text, **thread)])
        self._stream.publish_message({"number": number, "role": "notice", "text": text})


class SessionKeeper(_Keeper):
    """Stores compactions of a session.

    Attributes:
        known_before: Number of the first message after the summary, as of when the history was loaded.
    """

    known_before = 0

    async def store_compaction(self, result: CompactionResult) -> bool:
        """Store a compaction with its notice in one step; False if the session was changed meanwhile."""
        view = _to_compaction_view(result)
        message = result.summary_message
        stored = StoredCompaction(
            notice=create_notice("", compaction=view),
            shortened={number: history.dump_message(short) for number, short in result.shortened.items()},
            summary=None if message is None else history.dump_message(message),
            before=result.before,
            last_replaced=result.last_replaced,
            known_before=self.known_before,
        )
        number = await self._core.store.chats.save_compaction(self._session_id, stored)
        if number is None:
            self._stream.live.must_reload = True
            return False
        if message is not None:
            self.known_before = result.before
        self._stream.publish_compaction(number, view)
        return True


class SubAgentKeeper(_Keeper):
    """Records for the user that a sub-agent's history was shortened; the history itself ends with its call."""

    async def store_compaction(self, result: CompactionResult) -> bool:
        """Store a notice of a compaction, and publish it."""
        view = _to_compaction_view(result)
        kept = create_notice("", thread=self._stream.thread, compaction=view)
        (number,) = await self._core.store.chats.append_messages(self._session_id, [kept])
        self._stream.publish_compaction(number, view)
        return True


def _to_compaction_view(result: CompactionResult) -> dict[str, Any]:
    view = CompactionView(
        shortened_results=result.results,
        cut_parts=result.cut,
        replaced_messages=result.replaced,
        summary=result.summary,
        tokens_before=result.tokens_before,
        tokens_after=result.tokens_after,
    )
    return view.to_json()
