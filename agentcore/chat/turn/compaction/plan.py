"""One compaction: what a model is told is made shorter step by step, on a copy, until it fits."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, ToolReturnPart

from agentcore.chat.bounds import KEPT_SHARE, WORDS_SHARE
from agentcore.chat.texts import Locale
from agentcore.chat.turn.compaction.model_history import HistoryEntry, ModelHistory, can_start_history
from agentcore.chat.turn.compaction.shortening import Shortener, part_tokens
from agentcore.chat.turn.compaction.summary import build_summary, summary_of

WriteSummary = Callable[[Sequence[ModelMessage]], Awaitable[str]]
"""Sums messages up."""

_REPLACED_AT_LEAST = 2
"""Messages; less than an answer and what it answers is not worth a summary."""


@dataclass(frozen=True, slots=True)
class CompactionResult:
    """What a compaction did.

    Args:
        shortened: What stands in place of stored messages, by their numbers.
        results: Results that became one line.
        cut: Messages and results of which only both ends are left.
        replaced: Messages in whose place the summary stands.
        summary: The summary, for the person; None: there is none.
        summary_message: The same as the model gets it.
        before: The first stored message that the model is still told; 0: all.
        last_replaced: The last stored message that the summary stands for.
        tokens_before: What the messages took, as estimated for the model.
        tokens_after: What they take.
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
    """Makes a copy of a history shorter.

    Args:
        history: The history, measured.
        shortener: Makes parts shorter.

    Attributes:
        told: What the model would be told.
        tokens: What it takes, as estimated.
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
        """Whether anything is shorter."""
        return bool(self._results or self._cut or self._replaced)

    async def shorten_results(self, target: int) -> None:
        """Put lines in place of results that the model has seen, the oldest first, until a bound is met."""
        for each in self.told[: ModelHistory(self.told).newest_step()]:
            for part in each.message.parts:
                if self.tokens <= target:
                    return
                if isinstance(part, ToolReturnPart) and (line := await self._shortener.to_line(part)) is not None:
                    self._replace_part(each, part, line)
                    self._results += 1

    async def cut_parts(self, limit: int, start: int = 0) -> None:
        """Leave only both ends of what takes more than a bound, from a message on."""
        for each in self.told[start:]:
            if summary_of(each.message) is not None or each.tokens <= limit:
                continue
            for part in each.message.parts:
                if (ends := await self._shortener.to_ends(part, limit)) is not None:
                    self._replace_part(each, part, ends)
                    self._cut += 1

    async def cut_to_fit(self, room: int) -> None:
        """Leave only both ends of the largest parts, so that all fits into a room."""
        parts = [part for each in self.told for part in each.message.parts]
        sizes = sorted(await asyncio.to_thread(lambda: list(map(part_tokens, parts))))
        left = room - (self.tokens - sum(sizes))
        for count, size in zip(range(len(sizes), 0, -1), sizes, strict=True):
            if size * count > left:
                # the parts from here on share what is left by the smaller ones, in equal parts
                await self.cut_parts(max(left // count, 1))
                return
            left -= size

    def find_boundary(self, room: int) -> int:
        """Where what stays in full begins: the newest messages that fit, the newest step in any case."""
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
        """Whether there is enough before a message that a summary could stand for."""
        replaced = [each.message for each in self.told[:first_kept] if summary_of(each.message) is None]
        return len(replaced) >= _REPLACED_AT_LEAST and any(isinstance(each, ModelResponse) for each in replaced)

    async def replace_with_summary(
        self, first_kept: int, room: int, write: WriteSummary, todos: Sequence[Mapping[str, Any]], locale: Locale
    ) -> None:
        """Put a summary in place of all messages before one."""
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
        """What was done; tokens are told as the model counts them."""
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
        # of which kind the message is does not matter: each part is one of the same kind as before
        told.message = replace(cast("ModelRequest", told.message), parts=parts)
        if told.number:
            self._shortened[told.number] = told.message
