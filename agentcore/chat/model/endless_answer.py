"""Notices answers that do not end: text that repeats word for word, and more text than any model writes."""

ANSWER_CHARS = 2_000_000
"""Maximum length of one answer, thinking and arguments of calls included."""

_TAIL_CHARS = 16_000
"""How much of the end of a text is compared."""

_STEP_CHARS = 200
"""New text after which it is compared again."""

_END_CHARS = 64
_REPEATED_CHARS = 2_000
"""Minimum length of the repetitions together; less is common in tables and code."""

_LONG_CHARS = 200
_REPEATS = 8
_LONG_REPEATS = 4
"""Minimum repetitions of a text with at least `_LONG_CHARS` characters."""


class EndlessAnswerError(Exception):
    """An answer does not end.

    Args:
        unit: The text that it repeats; empty: it is only too long.
    """

    def __init__(self, unit: str = "") -> None:
        super().__init__("the answer repeats the same text" if unit else "the answer is too long")
        self.unit = unit


class AnswerSize:
    """Counts the characters of one answer."""

    def __init__(self) -> None:
        self._chars = 0

    def add(self, text: object) -> None:
        """Count a chunk; anything but a text counts nothing.

        Raises:
            EndlessAnswerError: The answer is too long.
        """
        self._chars += len(text) if isinstance(text, str) else 0
        if self._chars > ANSWER_CHARS:
            raise EndlessAnswerError


class RepetitionWatch:
    """Watches the end of a text that arrives in chunks."""

    def __init__(self) -> None:
        self._tail = ""
        self._new_chars = 0

    def add(self, chunk: str) -> None:
        """Add a chunk.

        Raises:
            EndlessAnswerError: The text repeats itself.
        """
        start = 0
        # compared at the same places of the text however it is cut, so that chunks do not decide what is stopped
        while start < len(chunk):
            step = chunk[start : start + _STEP_CHARS - self._new_chars]
            start += len(step)
            self._tail = (self._tail + step)[-_TAIL_CHARS:]
            self._new_chars = (self._new_chars + len(step)) % _STEP_CHARS
            if self._new_chars == 0 and (unit := find_repeated(self._tail)):
                raise EndlessAnswerError(unit)


def find_repeated(text: str) -> str:
    """Return the text that is repeated at the end of a text, often enough to be an error; empty: there is none."""
    end = text[-_END_CHARS:]
    at = text.rfind(end, 0, len(text) - 1)
    if at < 0:
        return ""
    unit = text[at + len(end) :]
    count = count_repeats(text, unit)
    least = _LONG_REPEATS if len(unit) >= _LONG_CHARS else _REPEATS
    return unit if count >= least and count * len(unit) >= _REPEATED_CHARS else ""


def count_repeats(text: str, unit: str) -> int:
    """Return how often a text ends with another one."""
    count = 0
    while text.endswith(unit, 0, len(text) - count * len(unit)):
        count += 1
    return count


def without_repeats(text: str, unit: str) -> str:
    """Return a text with only one of the repetitions at its end; a part of one after them is left out too."""
    for missing in range(len(unit)):
        shorter = text[: len(text) - missing]
        if (count := count_repeats(shorter, unit)) > 1:
            return shorter[: len(shorter) - (count - 1) * len(unit)]
    return text
