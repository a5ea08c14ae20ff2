"""A summary in place of old messages because a tool, or the person, wants it."""

from pydantic_ai.messages import ModelRequest, ModelResponse, ToolCallPart, UserPromptPart

from agentcore.chat.model.engine import Engine
from agentcore.chat.session.model_scales import ModelScales
from agentcore.chat.session.stream import Stream
from agentcore.chat.settings import ModelChoice
from agentcore.chat.turn.compaction.compactor import Compactor
from agentcore.chat.turn.compaction.keeping import SessionKeeper
from agentcore.chat.turn.compaction.plan import CompactionResult
from agentcore.chat.turn.compaction.summary import summary_of
from agentcore.chat.turn.compaction.told import Told, ToldHistory, load_history
from agentcore.chat.turn.model_reply import used_tokens
from agentcore.chat.turn.untrusted import use_mark
from agentcore.core import Host
from agentcore.store.chat import ChatSessionRow


async def compact_session(
    host: Host,
    engine: Engine,
    choice: ModelChoice,
    stream: Stream,
    session: ChatSessionRow,
    *,
    summary: str | None,
    keep_turns: int,
) -> CompactionResult | None:
    """Put a summary in place of all but the last turns; None: there was nothing to replace.

    Args:
        host: Has the store.
        engine: Asks the model.
        choice: The session's model.
        stream: The session's events.
        session: The session.
        summary: The summary; None: the model writes it.
        keep_turns: A turn begins with a message of the person's; 0: only calls that go on stay.
    Raises:
        ToolError: The model cannot be asked.
    """

    async def count(response: ModelResponse) -> None:
        used = used_tokens(response)
        stream.live.agent_tokens += used.input_tokens + used.output_tokens
        await host.store.chats.append(session.session_id, usage=used)

    use_mark(session.mark)
    keeper = SessionKeeper(host, session.session_id, stream, count, stream.live.reader)
    keeper.known_before, history = await load_history(host.store.chats, session.session_id)
    compactor = Compactor(engine, stream, keeper, ModelScales.read(session.model_scales))
    result = await compactor.summarise(choice, history, _first_kept(history, keep_turns), summary)
    if result is not None:
        stream.live.must_reload = True
    return result


def _first_kept(history: ToldHistory, keep_turns: int) -> int:
    turns = [at for at, each in enumerate(history.told) if _begins_turn(each)]
    if keep_turns:
        return turns[-keep_turns] if keep_turns <= len(turns) else 0
    return len(history.told) - (1 if history.told and _calls(history.told[-1]) else 0)


def _begins_turn(told: Told) -> bool:
    is_request = isinstance(told.message, ModelRequest) and summary_of(told.message) is None
    return is_request and any(isinstance(part, UserPromptPart) for part in told.message.parts)


def _calls(told: Told) -> bool:
    return any(isinstance(part, ToolCallPart) for part in told.message.parts)
