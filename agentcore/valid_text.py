"""Text that UTF-8 can encode: the one place where surrogates from outside are replaced.

In Python and JavaScript a text may contain a lone surrogate: from an escape such as `\\ud800` in JSON, from a file name
that is not UTF-8, from a page. Such text cannot be stored, hashed or sent, so incoming text is made valid here, once.
"""

from typing import Any

_FIRST_HALF = ("\ud800", "\udbff")


def valid_text(text: str) -> str:
    """Join surrogate pairs into characters, and replace lone surrogates with escapes such as `\\udce9`."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        return joined.encode("utf-8", "backslashreplace").decode()
    return text


def with_valid_text(value: Any) -> Any:
    """Make all texts in plain values valid; bytes become text."""
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
    """Makes text that arrives in chunks valid, and joins pairs that were split between chunks."""

    def __init__(self) -> None:
        self._held = ""

    def add(self, piece: str) -> str:
        """Add a chunk; return the text that is known to be complete."""
        text = self._held + piece
        self._held = ""
        if _FIRST_HALF[0] <= text[-1:] <= _FIRST_HALF[1]:
            text, self._held = text[:-1], text[-1]
        return valid_text(text)

    def flush(self) -> str:
        """Return the rest after the last chunk."""
        held = self._held
        self._held = ""
        return valid_text(held)
