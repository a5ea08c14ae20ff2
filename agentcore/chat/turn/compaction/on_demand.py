"""Summarises old messages of a session at the request of a tool or the user."""

from pydantic_ai.messages import ModelRequest, ModelResponse, ToolCallPart, UserPromptPart

from agentcore.chat.model.model_requests import Engine
from agentcore.chat.session.event_stream import Stream
from agentcore.chat.session.model_scales import ModelScales
from agentcore.chat.settings import ModelChoice
from agentcore.chat.turn.compaction.compaction_storage import SessionKeeper
from agentcore.chat.turn.compaction.compactor import Compactor
from agentcore.chat.turn.compaction.model_history import HistoryEntry, ModelHistory, load_history
from agentcore.chat.turn.compaction.plan import CompactionResult
from agentcore.chat.turn.compaction.summary import summary_of
from agentcore.chat.turn.model_reply import used_tokens
from agentcore.chat.untrusted_text import use_mark
from agentcore.core.core import Core
from agentcore.store.chat.chat_rows import ChatSessionRow


async def compact_session(
    core: Core,
    engine: Engine,
    choice: ModelChoice,
    stream: Stream,
    session: ChatSessionRow,
    *,
    summary: str | None,
    keep_turns: int,
) -> CompactionResult | None:
    """Replace all but the last turns with a summary; None if there was nothing to replace.

    Args:
        core: Provides the store.
        engine: Sends the request to the model.
        choice: The session's model.
        stream: The session's events.
        session: The session.
        summary: The summary; None: the model writes it.
        keep_turns: Number of turns to keep, each starting with a user message; 0: keep only calls in progress.
    Raises:
        ToolError: The request to the model failed.
    """

    async def count(response: ModelResponse) -> None:
        used = used_tokens(response)
        stream.live.agent_tokens += used.input_tokens + used.output_tokens
        await core.store.chats.append_messages(session.session_id, usage=used)

    use_mark(session.mark)
    keeper = SessionKeeper(core, session.session_id, stream, count, stream.live.reader)
    keeper.known_before, history = await load_history(core.store.chats, session.session_id)
    compactor = Compactor(engine, stream, keeper, ModelScales.from_json_text(session.model_scales))
    result = await compactor.summarise_history(choice, history, _find_first_retained(history, keep_turns), summary)
    if result is not None:
        stream.live.must_reload = True
    return result


def _find_first_retained(history: ModelHistory, keep_turns: int) -> int:
    turns = [at for at, each in enumerate(history.told) if _starts_turn(each)]
    if keep_turns:
        return turns[-keep_turns] if keep_turns <= len(turns) else 0
    return len(history.told) - (1 if history.told and _has_calls(history.told[-1]) else 0)


def _starts_turn(told: HistoryEntry) -> bool:
    is_request = isinstance(told.message, ModelRequest) and summary_of(told.message) is None
    return is_request and any(isinstance(part, UserPromptPart) for part in told.message.parts)


def _has_calls(told: HistoryEntry) -> bool:
    return any(isinstance(part, ToolCallPart) for part in told.message.parts)
