"""What a model is told of a conversation: its messages, where they are stored, and how many tokens they take."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, ToolReturnPart, UserPromptPart

from agentcore.chat.turn import history
from agentcore.chat.turn.compaction.token_estimate import message_tokens
from agentcore.store.chat import ChatStore


@dataclass(slots=True)
class HistoryEntry:
    """One message as the model gets it.

    Args:
        message: The message.
        number: Its number in the store; 0: it has none.
        tokens: What it takes, as estimated; 0: not estimated yet.
    """

    message: ModelMessage
    number: int = 0
    tokens: int = 0


class ModelHistory:
    """All that a model is told of a conversation, oldest first."""

    def __init__(self, told: Iterable[HistoryEntry] = ()) -> None:
        self.told = list(told)

    @property
    def messages(self) -> list[ModelMessage]:
        """The messages."""
        return [each.message for each in self.told]

    @property
    def needs_answer(self) -> bool:
        """Whether it is the model's turn."""
        return bool(self.told) and isinstance(self.told[-1].message, ModelRequest)

    def add_messages(self, messages: Sequence[ModelMessage], numbers: Sequence[int] = ()) -> None:
        """Add messages, with their numbers where they are stored."""
        self.told += [HistoryEntry(message, numbers[at] if numbers else 0) for at, message in enumerate(messages)]

    async def measure_tokens(self) -> int:
        """Estimate what was added since the last time; gives the tokens of all."""
        new = [each for each in self.told if each.tokens == 0]
        if new:
            # in a thread: a session that was just loaded, or a large result, takes longer than the loop may stand
            await asyncio.to_thread(_measure_entries, new)
        return sum(each.tokens for each in self.told)

    def newest_step(self) -> int:
        """Where the last answer of the model begins, whose results it has not seen; the end, if it has none."""
        at = next((at for at in reversed(range(len(self.told))) if _is_answer(self.told[at])), None)
        return len(self.told) if at is None else at


async def load_history(chats: ChatStore, session_id: str) -> tuple[int, ModelHistory]:
    """What the model is told of a stored session, and the first message that it is told beside a summary."""
    session = await chats.find_session(session_id)
    stored = await chats.load_context_messages(session_id)
    # in a thread: megabytes of JSON, where nothing was made shorter yet
    loaded = await asyncio.to_thread(history.load, stored)
    before = 0 if session is None else session.summarised_before
    return before, ModelHistory(HistoryEntry(message, number) for number, message in loaded)


def _measure_entries(told: Sequence[HistoryEntry]) -> None:
    for each in told:
        each.tokens = message_tokens(each.message)


def _is_answer(told: HistoryEntry) -> bool:
    return isinstance(told.message, ModelResponse)


def can_start_history(message: ModelMessage) -> bool:
    """Whether what a model is told may begin with a message: no result stands in it without its call."""
    if isinstance(message, ModelResponse):
        return True
    has_results = any(isinstance(part, ToolReturnPart) for part in message.parts)
    return not has_results and any(isinstance(part, UserPromptPart) for part in message.parts)
