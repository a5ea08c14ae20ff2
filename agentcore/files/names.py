r"""File names as text: every name of a file system has one spelling in valid UTF-8, and that spelling reads back.

Bytes that are not UTF-8, and control characters, stand as `\xE9` (two upper-case digits). A backslash that would be
read as the start of such a spelling stands as `\x5C`; any other backslash stays as it is.
"""

import re

_HEX = "0[1-9A-F]|1[0-9A-F]|5C|7F|[89A-F][0-9A-F]"  # neither NUL, `/` nor `.` can be spelled this way
_UNSAFE = re.compile(rf"[\x01-\x1f\x7f\udc80-\udcff]|\\(?=x(?:{_HEX}))")
_ESCAPED = re.compile(rf"\\x({_HEX})".encode("ascii"))


def show_name(name: bytes) -> str:
    r"""The spelling of a name or path: valid UTF-8 on one line, `\xE9` for what is none.

    Args:
        name: Bytes as the file system gives them.
    """
    text = name.decode("utf-8", "surrogateescape")
    if text.isprintable() and "\\" not in text:
        return text
    return _UNSAFE.sub(lambda found: f"\\x{ord(found[0]) & 0xFF:02X}", text)


def read_name(text: str) -> bytes:
    """The bytes of a name or path that `show_name` (or a person) spelled.

    Raises:
        ValueError: The text holds a surrogate that stands for no byte.
    """
    name = text.encode("utf-8", "surrogateescape")
    if b"\\x" not in name:
        return name
    return _ESCAPED.sub(lambda found: bytes([int(found[1], 16)]), name)
