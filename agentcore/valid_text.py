"""Text that UTF-8 can carry: the one place where halves of surrogate pairs from outside become something else.

Python and JavaScript let a text hold half of a pair: from an escape such as `\\ud800` in JSON, from a file name that is
no UTF-8, from a page. Nothing can store, hash or send such a text. What comes in is made valid here, once.
"""

from typing import Any

_FIRST_HALF = ("\ud800", "\udbff")


def valid_text(text: str) -> str:
    """The text with two halves that belong together as one character, and others as escapes such as `\\udce9`."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        return joined.encode("utf-8", "backslashreplace").decode()
    return text


def with_valid_text(value: Any) -> Any:
    """Plain values with all of their texts made valid; bytes become text."""
    if isinstance(value, str):
        return valid_text(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, dict):
        return {with_valid_text(key): with_valid_text(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [with_valid_text(part) for part in value]
    return value


class TextChunks:
    """Makes a text valid that comes in pieces: a pair that was cut through is put together again."""

    def __init__(self) -> None:
        self._held = ""

    def add(self, piece: str) -> str:
        """Take a piece; gives what is known to be whole."""
        text = self._held + piece
        self._held = ""
        if _FIRST_HALF[0] <= text[-1:] <= _FIRST_HALF[1]:
            text, self._held = text[:-1], text[-1]
        return valid_text(text)

    def flush(self) -> str:
        """What is left when the text has ended."""
        held = self._held
        self._held = ""
        return valid_text(held)
