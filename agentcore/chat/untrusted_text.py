"""Frames untrusted text, so that a model sees where outside data begins and ends."""

import re
import secrets
from contextvars import ContextVar

from agentcore.chat.texts import result_text

MARK_BYTES = 8
"""Length of a mark; enough that the author of a text cannot guess it."""

_MARK: ContextVar[str] = ContextVar("untrusted_mark", default="")
_INVISIBLE = (
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    r"\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff"
)
"""Invisible characters: a model reads a tag that contains some as the tag."""

_LETTERS = f"[{_INVISIBLE}]*".join("untrusted")
# possessive: without a slash, blanks could be split between the two repetitions in any way, and each would be tried
_TAG = re.compile(rf"[<\uff1c\ufe64](?=[\s{_INVISIBLE}]*+(?:[/\uff0f][\s{_INVISIBLE}]*+)?{_LETTERS})", re.IGNORECASE)
_NO_MARKUP = str.maketrans("<>", "‹›")
_SOURCE_CHARS = 200


def new_mark() -> str:
    """Create a mark for a new session."""
    return secrets.token_hex(MARK_BYTES)


def use_mark(mark: str) -> None:
    """Frame text in this task with a session's mark from now on, so that its texts stay the same over restarts."""
    _MARK.set(mark)


def mark_untrusted(content: str, source: str) -> str:
    """Frame content so that it is recognisable as data.

    The frame carries the session's mark, and tags in the content that look like the frame's are escaped, so that they
    cannot close it. Without a session each frame has its own mark.
    """
    held = _TAG.sub("&lt;", content)
    mark = _MARK.get() or new_mark()
    said = result_text("untrusted", source=one_line(source, _SOURCE_CHARS).translate(_NO_MARKUP))
    return f'<untrusted id="{mark}"> {said}\n{held}\n</untrusted id="{mark}">'


def one_line(content: str, limit_chars: int) -> str:
    """Fit outside text into a line: without line breaks and control characters, truncated to the limit."""
    shown = "".join(character for character in " ".join(content.split()) if character.isprintable())
    return shown if len(shown) <= limit_chars else f"{shown[:limit_chars]}…"
