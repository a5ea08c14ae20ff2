"""JSON as editors write it: comments and trailing commas are ignored."""

import re

_STRING = r'"(?:[^"\\\r\n]|\\.)*"'
_COMMENT = re.compile(rf"{_STRING}|//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_LAST_COMMA = re.compile(rf"{_STRING}|,(?=\s*[}}\]])", re.DOTALL)
_NO_LINE_END = re.compile(r"[^\r\n]")


def without_comments(text: str) -> str:
    """Return the text with comments and trailing commas replaced by spaces; all other positions stay the same."""
    return _LAST_COMMA.sub(_blank_out, _COMMENT.sub(_blank_out, text))


def _blank_out(found: re.Match[str]) -> str:
    chunk = found.group()
    return chunk if chunk.startswith('"') else _NO_LINE_END.sub(" ", chunk)
