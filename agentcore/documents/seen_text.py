"""Text as it is seen: without characters that show nothing and spaces that do not count."""

import re

_BLANK_LINES = re.compile(r"\n[ \t]*\n(?:[ \t]*\n)+")
_UNSEEN = {**dict.fromkeys(range(0xE0000, 0xE0080)), **dict.fromkeys((0x200B, 0x2060, 0xFEFF, 0xAD)), 0xA0: " "}
"""Characters that show nothing, in which a second text for models can be written; and a space that does not break."""


def seen_text(text: str) -> str:
    """A text without trailing spaces, runs of blank lines, and characters that show nothing."""
    lines = [line.rstrip() for line in text.translate(_UNSEEN).replace("\r\n", "\n").split("\n")]
    return _BLANK_LINES.sub("\n\n", "\n".join(lines)).strip()
