r"""File names as text: every name of a file system has one reversible form in valid UTF-8.

Bytes that are not UTF-8, and control characters, are escaped as `\xE9` (two upper-case digits). A backslash that would
be read as the start of such an escape becomes `\x5C`; any other backslash is unchanged.
"""

import re

_HEX = "0[1-9A-F]|1[0-9A-F]|5C|7F|[89A-F][0-9A-F]"  # neither NUL, `/` nor `.` can be escaped
_UNSAFE = re.compile(rf"[\x01-\x1f\x7f\udc80-\udcff]|\\(?=x(?:{_HEX}))")
_ESCAPED = re.compile(rf"\\x({_HEX})".encode("ascii"))


def show_name(name: bytes) -> str:
    r"""Convert a name or path to valid UTF-8 on one line, other bytes escaped (`\xE9`).

    Args:
        name: Bytes from the file system.
    """
    text = name.decode("utf-8", "surrogateescape")
    if text.isprintable() and "\\" not in text:
        return text
    return _UNSAFE.sub(lambda found: f"\\x{ord(found[0]) & 0xFF:02X}", text)


def read_name(text: str) -> bytes:
    """Convert a name or path from `show_name`, or typed by a user, to bytes.

    Raises:
        ValueError: The text contains a surrogate that does not represent a byte.
    """
    name = text.encode("utf-8", "surrogateescape")
    if b"\\x" not in name:
        return name
    return _ESCAPED.sub(lambda found: bytes([int(found[1], 16)]), name)
