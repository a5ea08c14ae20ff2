"""The history sent to a model: messages, their numbers in the store, and their estimated tokens."""

import asyncio
from collections.abc import Iterable, Sequence

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, ToolReturnPart, UserPromptPart

from agentcore.chat.turn import history
from agentcore.chat.turn.compaction.message_tokens import message_tokens
from agentcore.late_dataclasses import dataclass
from agentcore.store.chat.chat_store import ChatStore


@dataclass(slots=True)
class HistoryEntry:
    """One message as sent to the model.

    Args:
        message: The message.
        number: Its number in the store; 0: it is not stored.
        tokens: Its estimated tokens; 0: not estimated yet.
    """

    message: ModelMessage
    number: int = 0
    tokens: int = 0


class ModelHistory:
    """All messages of a conversation that are sent to the model, oldest first."""

    def __init__(self, told: Iterable[HistoryEntry] = ()) -> None:
        self.told = list(told)

    @property
    def messages(self) -> list[ModelMessage]:
        """The messages without their numbers and tokens."""
        return [each.message for each in self.told]

    @property
    def needs_answer(self) -> bool:
        """True if the last message is one that the model has to answer."""
        return bool(self.told) and isinstance(self.told[-1].message, ModelRequest)

    def add_messages(self, messages: Sequence[ModelMessage], numbers: Sequence[int] = ()) -> None:
        """Append messages, with their numbers if they are stored."""
        self.told += [HistoryEntry(message, numbers[at] if numbers else 0) for at, message in enumerate(messages)]

    async def measure_tokens(self) -> int:
        """Estimate the tokens of messages added since the last time; return the total."""
        new = [each for each in self.told if each.tokens == 0]
        if new:
            # in a thread: a session that was just loaded, or a large result, would block the event loop for too long
            await asyncio.to_thread(_measure_entries, new)
        return sum(each.tokens for each in self.told)

    def newest_step(self) -> int:
        """Return the index of the model's last answer, whose results it has not seen; the length if there is none."""
        at = next((at for at in reversed(range(len(self.told))) if _is_answer(self.told[at])), None)
        return len(self.told) if at is None else at


async def load_history(chats: ChatStore, session_id: str) -> tuple[int, ModelHistory]:
    """Load a session's history; return the number of the first message after the summary, and the history."""
    session = await chats.find_session(session_id)
    stored = await chats.load_context_messages(session_id)
    # in a thread: megabytes of JSON, if nothing was shortened yet
    loaded = await asyncio.to_thread(history.load_messages, stored)
    before = 0 if session is None else session.summarised_before
    return before, ModelHistory(HistoryEntry(message, number) for number, message in loaded)


def _measure_entries(told: Sequence[HistoryEntry]) -> None:
    for each in told:
        each.tokens = message_tokens(each.message)


def _is_answer(told: HistoryEntry) -> bool:
    return isinstance(told.message, ModelResponse)


def can_start_history(message: ModelMessage) -> bool:
    """True if a history may start with this message, because it has no result without its call."""
    if isinstance(message, ModelResponse):
        return True
    has_results = any(isinstance(part, ToolReturnPart) for part in message.parts)
    return not has_results and any(isinstance(part, UserPromptPart) for part in message.parts)
