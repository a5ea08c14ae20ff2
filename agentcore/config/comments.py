"""JSON as people keep it in editors: comments and commas at the end of lists are read over."""

import re

_STRING = r'"(?:[^"\\\r\n]|\\.)*"'
_COMMENT = re.compile(rf"{_STRING}|//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_LAST_COMMA = re.compile(rf"{_STRING}|,(?=\s*[}}\]])", re.DOTALL)
_NO_LINE_END = re.compile(r"[^\r\n]")


def without_comments(text: str) -> str:
    """A text with spaces in place of comments and last commas, so that all else stands where it stood."""
    return _LAST_COMMA.sub(_blank_out, _COMMENT.sub(_blank_out, text))


def _blank_out(found: re.Match[str]) -> str:
    piece = found.group()
    return piece if piece.startswith('"') else _NO_LINE_END.sub(" ", piece)
