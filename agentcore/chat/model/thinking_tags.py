"""Separates the thinking that a model writes in tags from its answer, however the text is cut into chunks.

Tags count only before the answer: `<think>` in prose or code is text.
"""

from typing import Literal

Kind = Literal["thinking", "answer"]

THINKING_FIELD = "thinking_in_tags"
"""The id of thinking that was written in tags. It is never sent back, because models do not expect it in their text."""

_NAMES = ("think", "thinking", "thought", "reasoning")
_TAGS = {f"<{name}>": f"</{name}>" for name in _NAMES}


class ThinkingSplitter:
    """Splits one streamed answer."""

    def __init__(self) -> None:
        self._state: Literal["start", "thinking", "answer"] = "start"
        self._held = ""
        self._closing = ""
        self._parts = 0
        self._is_part_begun = False

    def add(self, text: str) -> list[tuple[Kind, str]]:
        """Add a chunk; return the text that is known to belong to either."""
        self._held += text
        found: list[tuple[Kind, str]] = []
        while True:
            before = self._state, self._held
            found += self._advance()
            if (self._state, self._held) == before:
                return [(kind, chunk) for kind, chunk in found if chunk]

    def flush(self) -> list[tuple[Kind, str]]:
        """Return the rest when the answer has ended: thinking that was not closed stays thinking."""
        held = self._held
        self._held = ""
        if self._state == "thinking":
            return [("thinking", text)] if (text := self._thought(held).rstrip()) else []
        if self._state == "start" and self._parts:
            held = held.lstrip()
        return [("answer", held)] if held else []

    def _advance(self) -> list[tuple[Kind, str]]:
        if self._state == "start":
            return self._read_start()
        if self._state == "thinking":
            return self._read_thinking()
        text = self._held
        self._held = ""
        return [("answer", text)]

    def _read_start(self) -> list[tuple[Kind, str]]:
        begun = self._held.lstrip()
        for tag, closing in _TAGS.items():
            if begun.startswith(tag):
                self._state = "thinking"
                self._closing = closing
                self._held = begun.removeprefix(tag)
                self._parts += 1
                self._is_part_begun = False
                return []
        if any(tag.startswith(begun) for tag in _TAGS):  # also of nothing yet
            return []
        self._state = "answer"
        if self._parts:
            self._held = begun
        return []

    def _read_thinking(self) -> list[tuple[Kind, str]]:
        end = self._held.find(self._closing)
        if end >= 0:
            text = self._held[:end]
            self._held = self._held[end + len(self._closing) :]
            self._state = "start"
            return [("thinking", self._thought(text.rstrip()))]
        # the end of the text may be the beginning of the closing tag
        safe = len(self._held) - _common_length(self._held, self._closing)
        text = self._held[:safe]
        kept = text.rstrip()
        self._held = self._held[len(kept) :]
        return [("thinking", self._thought(kept))]

    def _thought(self, text: str) -> str:
        """Return thinking without white space at its beginning; a further part starts on a line of its own."""
        if self._is_part_begun:
            return text
        text = text.lstrip()
        if not text:
            return ""
        self._is_part_begun = True
        return text if self._parts == 1 else f"\n{text}"


def _common_length(text: str, tag: str) -> int:
    """Return how many characters at the end of a text are the beginning of a tag."""
    return next((size for size in range(min(len(text), len(tag) - 1), 0, -1) if text.endswith(tag[:size])), 0)
