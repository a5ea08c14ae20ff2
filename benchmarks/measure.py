"""Measuring against a floor in the same run: rounds alternate, medians are compared, ratios are what counts."""

import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table.

    Args:
        name: What was measured.
        subject: Its median, in `unit`.
        floor: The median of what it is held against; 0: nothing, `subject` itself is held against the target.
        target: The ratio (or, without a floor, the value) that it must not exceed, or must reach (`at_least`).
        unit: Of both medians.
        at_least: Whether more is better.
        is_difference: Whether what comes on top of the floor is held against the target, and not the ratio.
        paired: The median of the ratios of single rounds, where it was taken; it counts, then, and not that of medians.
        spread: The least and the largest value of several runs, of which the medians are given.
    """

    name: str
    subject: float
    floor: float
    target: float | None
    unit: str = "ms"
    at_least: bool = False
    is_difference: bool = False
    paired: float | None = None
    spread: tuple[float, float] | None = None

    @property
    def value(self) -> float:
        """The ratio, or the difference; the subject where there is no floor."""
        if self.is_difference:
            return self.subject - self.floor
        if self.paired is not None:
            return self.paired
        return self.subject / self.floor if self.floor else self.subject

    @property
    def holds(self) -> bool | None:
        """Whether the target is reached; None where there is none."""
        if self.target is None:
            return None
        return self.value >= self.target if self.at_least else self.value <= self.target


@dataclass(frozen=True, slots=True)
class Pairs:
    """Milliseconds of a subject and its floor, taken right after one another in each round."""

    subject: list[float]
    floor: list[float]

    def row(self, name: str, target: float) -> Row:
        """What they come to. Other programs disturb both of a round alike, so that their ratio says most."""
        ratio = statistics.median(ours / theirs for ours, theirs in zip(self.subject, self.floor, strict=True))
        return Row(name, statistics.median(self.subject), statistics.median(self.floor), target, paired=ratio)


async def paired_async(
    subject: Callable[[], Awaitable[object]], floor: Callable[[], Awaitable[object]], rounds: int, warm_up: int = 3
) -> Pairs:
    """Time two coroutine functions in pairs; which of them is first changes from round to round."""
    pairs = Pairs([], [])
    for turn in range(rounds + warm_up):
        order = ((subject, pairs.subject), (floor, pairs.floor))
        for function, times in order if turn % 2 else reversed(order):
            began = time.perf_counter()
            await function()
            if turn >= warm_up:
                times.append((time.perf_counter() - began) * 1000)
    return pairs


def alternate(
    subject: Callable[[], object], floor: Callable[[], object], rounds: int, warm_up: int = 3
) -> tuple[float, float]:
    """Median milliseconds of two functions, called in turn."""
    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(rounds + warm_up):
        for index, function in enumerate((subject, floor)):
            began = time.perf_counter()
            function()
            if turn >= warm_up:
                times[index].append((time.perf_counter() - began) * 1000)
    return statistics.median(times[0]), statistics.median(times[1])


async def alternate_async(
    subject: Callable[[], Awaitable[object]],
    floor: Callable[[], Awaitable[object]],
    rounds: int,
    repeat: int = 1,
    warm_up: int = 3,
) -> tuple[float, float]:
    """Median milliseconds of one call of two coroutine functions, called in turn, `repeat` calls a round."""
    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(rounds + warm_up):
        for index, function in enumerate((subject, floor)):
            began = time.perf_counter()
            for _ in range(repeat):
                await function()
            if turn >= warm_up:
                times[index].append((time.perf_counter() - began) * 1000 / repeat)
    return statistics.median(times[0]), statistics.median(times[1])


def merge(rows: Sequence[Row]) -> Row:
    """Return the medians of several runs of one row, with the spread of their values."""
    values = [row.value for row in rows]
    return replace(
        rows[0],
        subject=statistics.median(row.subject for row in rows),
        floor=statistics.median(row.floor for row in rows),
        paired=statistics.median(values) if rows[0].floor else None,
        spread=(min(values), max(values)),
    )


def table(rows: list[Row]) -> str:
    """The rows as a Markdown table."""
    lines = ["| what | agentcore | floor | ratio | target | |", "|---|--:|--:|--:|--:|---|"]
    for row in rows:
        target = "" if row.target is None else f"{'≥' if row.at_least else '≤'} {row.target:g}"
        verdict = {None: "", True: "reached", False: "**missed**"}[row.holds]
        floor = f"{row.floor:.3f} {row.unit}" if row.floor else ""
        ratio = f"{'+' * row.is_difference}{row.value:.2f}" if row.floor else ""
        if row.spread is not None:
            ratio = f"{ratio} ({row.spread[0]:.2f} to {row.spread[1]:.2f})".strip()
        lines.append(f"| {row.name} | {row.subject:.3f} {row.unit} | {floor} | {ratio} | {target} | {verdict} |")
    return "\n".join(lines)
