"""Convert the output of a process to text for a model or a program."""

import codecs
import re

from agentcore.api import Excerpt
from agentcore_shell_tools.limits import AROUND_CHARS, AROUND_SHARE

# CSI and OSC sequences, single escapes and non-printing control characters (ECMA-48)
_CONTROLS = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
)
_OVERWRITTEN = re.compile(r"[^\n]*\r(?!\n)")
_CONTINUATION = (0x80, 0xC0)
_LONGEST_CHARACTER = 4


def decode_excerpt(excerpt: Excerpt, *, is_complete: bool) -> tuple[str, int]:
    """Decode an excerpt of a stream; bytes that are not UTF-8 become U+FFFD.

    Args:
        excerpt: The excerpt.
        is_complete: True if the stream has ended, so that an incomplete character at the end stays incomplete.
    Returns:
        The text, and the number of bytes at the end that belong to an incomplete character.
    """
    data = excerpt.data
    head = 0
    if excerpt.start.offset:  # it may start in the middle of a character
        while head < min(len(data), _LONGEST_CHARACTER) and _CONTINUATION[0] <= data[head] < _CONTINUATION[1]:
            head += 1
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    text = decoder.decode(data[head:], final=is_complete)
    return text, len(decoder.getstate()[0])


def to_plain_text(text: str) -> str:
    """Return a text as a terminal would show it: without control sequences and overwritten parts of lines."""
    return _OVERWRITTEN.sub("", without_controls(text))


def without_controls(text: str) -> str:
    """Return a text without control sequences; `\\r` is left for the caller, who may have to join chunks."""
    return _CONTROLS.sub("", text.replace("\r\n", "\n"))


def output_chars(model_chars: int) -> int:
    """Return how much of a model's limit is for the output itself."""
    return model_chars - min(AROUND_CHARS, model_chars // AROUND_SHARE)


def shorten_middle(text: str, limit_chars: int) -> tuple[str, int]:
    """Shorten a long text to its start and more of its end, where logs report the outcome, in whole lines.

    Returns:
        The text, and the number of omitted characters (0: nothing was cut).
    """
    if len(text) <= limit_chars:
        return text, 0
    head = text[: limit_chars // 4]
    tail = text[len(text) - limit_chars * 3 // 4 :]
    head = head[: head.rfind("\n") + 1] or head
    tail = tail[tail.find("\n") + 1 :] or tail
    cut = len(text) - len(head) - len(tail)
    first = head.count("\n") + 1
    last = first + text.count("\n", len(head), len(text) - len(tail))
    where = f"lines {first:,} to {last - 1:,} of {_count_lines(text):,}, " if last > first else ""
    return f"{head}\n[… {where}{cut:,} characters are left out here …]\n\n{tail}", cut


def _count_lines(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n"))


def tail_bytes(text: str, limit_bytes: int) -> tuple[str, bool]:
    """Return the end of a text, at most `limit_bytes` of UTF-8, and whether it was cut."""
    raw = text.encode()
    if len(raw) <= limit_bytes:
        return text, False
    return raw[-limit_bytes:].decode(errors="ignore"), True
