"""Decodes the bytes of a body to text."""

import codecs
import re
from email.message import Message

from agentcore.api import guess_encoding

_PRESCAN_BYTES = 4_096
_META = re.compile(
    rb"""<(?:meta|\?xml)[^>]{0,500}?(?:charset|encoding)\s{0,5}=\s{0,5}["']?\s{0,5}([\w:.-]{2,40})""", re.IGNORECASE
)
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LABELS = {
    "gb_2312-80": "gbk",
    "unicode": "utf-16",
    "windows-31j": "cp932",
    "x-cp1251": "cp1251",
    "x-cp1252": "cp1252",
    "x-gbk": "gbk",
    "x-sjis": "cp932",
}
"""Encoding labels used on the web that Python does not know."""

_AS_BROWSERS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "utf-16": "utf-16-le",
}
"""Encodings that browsers treat as a superset. Source: WHATWG Encoding Standard, names and labels."""

_NO_CHARSETS = frozenset(("idna", "punycode", "raw-unicode-escape", "unicode-escape", "utf-7"))
"""Codecs of Python from bytes to text that browsers do not support."""


def parse_charset(content_type: str) -> str:
    """Return the charset in a Content-Type header, or an empty string."""
    message = Message()
    message["content-type"] = content_type
    return str(message.get_param("charset", "") or "").strip()


def decode_body(body: bytes, declared: str) -> tuple[str, str]:
    """Decode a body as a browser does: by BOM, header, declaration in the body, UTF-8, or else a guess.

    Args:
        body: The decompressed body.
        declared: The charset in the header, or empty.
    Returns:
        The text, with replacement characters for invalid bytes, and the name of the encoding.
    """
    for mark, name in _MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace"), name
    if name := _find_codec(declared) or _own_codec(body):
        return body.decode(name, "replace"), name
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(body), "utf-8"
    except UnicodeDecodeError:
        name = guess_encoding(body) or "cp1252"
        return body.decode(name, "replace"), name


def _own_codec(body: bytes) -> str:
    """Return the codec that a page declares in its content; empty if there is none."""
    named = _META.search(body[:_PRESCAN_BYTES])
    name = _find_codec(named.group(1).decode("ascii", "replace")) if named else ""
    # A declaration readable as ASCII cannot be in UTF-16:
    # https://html.spec.whatwg.org/#prescan-a-byte-stream-to-determine-its-encoding
    return "utf-8" if name.startswith("utf-16") else name


def _find_codec(label: str) -> str:
    """Return Python's name for an encoding label; empty if it is unknown or not a text encoding."""
    label = label.strip().lower()
    try:
        name = codecs.lookup(_LABELS.get(label, label)).name
        name = _AS_BROWSERS.get(name, name)
        "".encode(name)  # raises LookupError for a codec that is not a text encoding
    except (LookupError, ValueError):
        return ""
    return "" if name in _NO_CHARSETS else name
