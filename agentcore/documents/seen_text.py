"""Text as people see it: without invisible characters and insignificant spaces."""

import re

_BLANK_LINES = re.compile(r"\n[ \t]*\n(?:[ \t]*\n)+")
_UNSEEN = {**dict.fromkeys(range(0xE0000, 0xE0080)), **dict.fromkeys((0x200B, 0x2060, 0xFEFF, 0xAD)), 0xA0: " "}
"""Invisible characters, which could hide a second text for models; the non-breaking space becomes a space."""


def seen_text(text: str) -> str:
    """Return the text without trailing spaces, runs of blank lines, and invisible characters."""
    lines = [line.rstrip() for line in text.translate(_UNSEEN).replace("\r\n", "\n").split("\n")]
    return _BLANK_LINES.sub("\n\n", "\n".join(lines)).strip()
