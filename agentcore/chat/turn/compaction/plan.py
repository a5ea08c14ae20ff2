"""One compaction: shortens a copy of the history step by step until it fits."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, ToolReturnPart

from agentcore.chat.chat_limits import KEPT_SHARE, WORDS_SHARE
from agentcore.chat.texts import Locale
from agentcore.chat.turn.compaction.model_history import HistoryEntry, ModelHistory, can_start_history
from agentcore.chat.turn.compaction.shortening import Shortener, part_tokens
from agentcore.chat.turn.compaction.summary import build_summary, summary_of
from agentcore.late_dataclasses import dataclass

WriteSummary = Callable[[Sequence[ModelMessage]], Awaitable[str]]
"""Summarises messages."""

_REPLACED_AT_LEAST = 2
"""Minimum number of messages; less than an answer and its request is not worth a summary."""


@dataclass(frozen=True, slots=True)
class CompactionResult:
    """The result of a compaction.

    Args:
        shortened: Shortened messages, by the numbers of the stored messages that they replace.
        results: Number of results reduced to one line.
        cut: Number of messages and results of which only both ends are left.
        replaced: Number of messages replaced by the summary.
        summary: The summary, for the user; None: there is none.
        summary_message: The summary as sent to the model.
        before: The first stored message that is still sent to the model; 0: all.
        last_replaced: The last stored message that the summary replaces.
        tokens_before: Tokens of the messages before, estimated as the model counts.
        tokens_after: Tokens of the messages afterwards.
    """

    shortened: Mapping[int, ModelMessage]
    results: int
    cut: int
    replaced: int
    summary: str | None
    summary_message: ModelMessage | None
    before: int
    last_replaced: int
    tokens_before: int
    tokens_after: int


class CompactionPlan:
    """Shortens a copy of a history.

    Args:
        history: The history, with its tokens measured.
        shortener: Shortens parts.

    Attributes:
        told: The shortened history.
        tokens: Its estimated tokens.
    """

    def __init__(self, history: ModelHistory, shortener: Shortener) -> None:
        self.told = [replace(each) for each in history.told]
        self.tokens = self._tokens_before = sum(each.tokens for each in history.told)
        self._shortener = shortener
        self._shortened: dict[int, ModelMessage] = {}
        self._results = self._cut = self._replaced = 0
        self._summary: tuple[str, ModelMessage] | None = None
        self._before = self._last_replaced = 0

    @property
    def has_changes(self) -> bool:
        """True if anything was shortened."""
        return bool(self._results or self._cut or self._replaced)

    async def shorten_results(self, target: int) -> None:
        """Reduce results that the model has seen to one line each, oldest first, until the target is met."""
        for each in self.told[: ModelHistory(self.told).newest_step()]:
            for part in each.message.parts:
                if self.tokens <= target:
                    return
                if isinstance(part, ToolReturnPart) and (line := await self._shortener.to_line(part)) is not None:
                    self._replace_part(each, part, line)
                    self._results += 1

    async def cut_parts(self, limit: int, start: int = 0) -> None:
        """Leave only both ends of parts over a limit in tokens, starting at a message."""
        for each in self.told[start:]:
            if summary_of(each.message) is not None or each.tokens <= limit:
                continue
            for part in each.message.parts:
                if (ends := await self._shortener.to_ends(part, limit)) is not None:
                    self._replace_part(each, part, ends)
                    self._cut += 1

    async def cut_to_fit(self, room: int) -> None:
        """Leave only both ends of the largest parts, so that everything fits into `room` tokens."""
        parts = [part for each in self.told for part in each.message.parts]
        sizes = sorted(await asyncio.to_thread(lambda: list(map(part_tokens, parts))))
        left = room - (self.tokens - sum(sizes))
        for count, size in zip(range(len(sizes), 0, -1), sizes, strict=True):
            if size * count > left:
                # the remaining parts share equally what the smaller ones leave
                await self.cut_parts(max(left // count, 1))
                return
            left -= size

    def find_boundary(self, room: int) -> int:
        """Return the index of the first message to keep in full: the newest that fit, and always the newest step."""
        at = len(self.told)
        taken = 0
        newest = ModelHistory(self.told).newest_step()
        while at > 0 and (at > newest or taken + self.told[at - 1].tokens <= KEPT_SHARE * room):
            at -= 1
            taken += self.told[at].tokens
        while at < newest and not can_start_history(self.told[at].message):
            at += 1
        return min(at, newest) if newest < len(self.told) else at

    def can_replace(self, first_kept: int) -> bool:
        """True if enough messages precede this one to be worth a summary."""
        replaced = [each.message for each in self.told[:first_kept] if summary_of(each.message) is None]
        return len(replaced) >= _REPLACED_AT_LEAST and any(isinstance(each, ModelResponse) for each in replaced)

    async def replace_with_summary(
        self, first_kept: int, room: int, write: WriteSummary, todos: Sequence[Mapping[str, Any]], locale: Locale
    ) -> None:
        """Replace all messages before one with a summary."""
        replaced = self.told[:first_kept]
        messages = [each.message for each in replaced]
        written = await write(messages)
        summary = build_summary(messages, written)
        message = summary.to_message(todos, int(WORDS_SHARE * room), locale)
        kept = self.told[first_kept:]
        numbers = [each.number for each in replaced if each.number]
        self._replaced += sum(summary_of(each) is None for each in messages)
        self._summary = (written, message)
        self._last_replaced = max(numbers, default=0)
        self._before = kept[0].number if kept and kept[0].number else self._last_replaced + 1
        self.told = [HistoryEntry(message), *kept]
        self.tokens = await ModelHistory(self.told).measure_tokens()

    def build_result(self, scale: float) -> CompactionResult:
        """Return what was done; tokens are scaled to the model's count."""
        written, message = self._summary or (None, None)
        return CompactionResult(
            shortened=self._shortened,
            results=self._results,
            cut=self._cut,
            replaced=self._replaced,
            summary=written,
            summary_message=message,
            before=self._before,
            last_replaced=self._last_replaced,
            tokens_before=round(self._tokens_before * scale),
            tokens_after=round(self.tokens * scale),
        )

    def _replace_part(self, told: HistoryEntry, part: Any, shorter: Any) -> None:
        parts: list[Any] = [shorter if each is part else each for each in told.message.parts]
        saved = part_tokens(part) - part_tokens(shorter)
        told.tokens -= saved
        self.tokens -= saved
        # the type of the message does not matter: each part keeps its type
        told.message = replace(cast("ModelRequest", told.message), parts=parts)
        if told.number:
            self._shortened[told.number] = told.message
