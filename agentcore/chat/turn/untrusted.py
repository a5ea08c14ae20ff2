"""The mark around untrusted text, by which a model sees where data from outside begins and ends."""

import re
import secrets
from contextvars import ContextVar

from agentcore.chat.texts import result_text

MARK_BYTES = 8
"""Of a mark; nobody who writes a text can guess it."""

_MARK: ContextVar[str] = ContextVar("untrusted_mark", default="")
_INVISIBLE = (
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    r"\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff"
)
"""Characters that show nothing: a tag with some inside reads as the tag to a model."""

_LETTERS = f"[{_INVISIBLE}]*".join("untrusted")
# possessive: without a slash, blanks could be shared out between two repetitions in any way, each of which is tried
_TAG = re.compile(rf"[<\uff1c\ufe64](?=[\s{_INVISIBLE}]*+(?:[/\uff0f][\s{_INVISIBLE}]*+)?{_LETTERS})", re.IGNORECASE)
_NO_MARKUP = str.maketrans("<>", "‹›")
_SOURCE_CHARS = 200


def new_mark() -> str:
    """A mark for a new session."""
    return secrets.token_hex(MARK_BYTES)


def use_mark(mark: str) -> None:
    """Name what this task marks from now on by a session's mark, so that its texts stay the same over restarts."""
    _MARK.set(mark)


def mark_untrusted(content: str, source: str) -> str:
    """Frame content so that it is seen to be data.

    The session's mark names the frame, and tags like the frame's inside of it are taken apart, so that it cannot end
    it. Without a session each frame has a mark of its own.
    """
    held = _TAG.sub("&lt;", content)
    mark = _MARK.get() or new_mark()
    said = result_text("untrusted", source=one_line(source, _SOURCE_CHARS).translate(_NO_MARKUP))
    return f'<untrusted id="{mark}"> {said}\n{held}\n</untrusted id="{mark}">'


def one_line(content: str, limit_chars: int) -> str:
    """A text from outside for the middle of a line of ours: without line ends and controls, cut at its bound."""
    shown = "".join(character for character in " ".join(content.split()) if character.isprintable())
    return shown if len(shown) <= limit_chars else f"{shown[:limit_chars]}…"
