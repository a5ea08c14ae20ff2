"""From the bytes of a body to its text."""

import codecs
import re
from email.message import Message

from charset_normalizer import from_bytes

_PRESCAN_BYTES = 4_096
_GUESS_BYTES = 262_144
_META = re.compile(
    rb"""<(?:meta|\?xml)[^>]{0,500}?(?:charset|encoding)\s{0,5}=\s{0,5}["']?\s{0,5}([\w:.-]{2,40})""", re.IGNORECASE
)
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_AS_BROWSERS = {
    "ascii": "cp1252",
    "us-ascii": "cp1252",
    "iso-8859-1": "cp1252",
    "iso8859-1": "cp1252",
    "latin1": "cp1252",
    "iso-8859-9": "cp1254",
    "iso-8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "x-gbk": "gb18030",
    "gb_2312-80": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "x-sjis": "cp932",
    "windows-31j": "cp932",
    "euc-kr": "cp949",
    "ks_c_5601-1987": "cp949",
    "utf-16": "utf-16-le",
}
"""Names that mean a larger set than they say. Source: WHATWG Encoding Standard, names and labels."""

_NO_CHARSETS = frozenset(("idna", "punycode", "raw-unicode-escape", "unicode-escape", "utf-7"))
"""What Python decodes from bytes to text, and no browser does."""


def charset_of(content_type: str) -> str:
    """The charset that a Content-Type header names, or nothing."""
    message = Message()
    message["content-type"] = content_type
    return str(message.get_param("charset", "") or "").strip()


def decode(body: bytes, declared: str) -> tuple[str, str]:
    """Decode a body as a browser does: its mark, the header, what it says of itself, UTF-8, else a guess.

    Args:
        body: Decompressed.
        declared: The charset of the header, or nothing.
    Returns:
        The text, with replacement characters where bytes are wrong, and the name of the encoding.
    """
    for mark, name in _MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace"), name
    named = _META.search(body[:_PRESCAN_BYTES])
    for label in (declared, named.group(1).decode("ascii", "replace") if named else ""):
        name = _codec_of(label)
        if name:
            return body.decode(name, "replace"), name
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(body), "utf-8"
    except UnicodeDecodeError:
        guess = from_bytes(body[:_GUESS_BYTES]).best()
        name = guess.encoding if guess is not None else "cp1252"
        return body.decode(name, "replace"), name


def _codec_of(label: str) -> str:
    """Python's name for a label; nothing for one that is unknown, or that is no encoding of text."""
    name = label.strip().lower()
    try:
        found = codecs.lookup(_AS_BROWSERS.get(name, name))
        b"-".decode(found.name)
    except (LookupError, ValueError):
        return ""
    return "" if found.name in _NO_CHARSETS else found.name
