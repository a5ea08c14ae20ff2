"""What kind of thing a file is, by what it begins with; its name says more only where that cannot do harm."""

import codecs
import mimetypes

from agentcore.files.encoding_detection import guess_encoding

HEAD_BYTES = 8192
"""What is looked at."""

PICTURES = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp"))
"""Pictures that providers take; another one in a session would have each of its later requests refused."""

_BEGINNINGS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"\x1f\x8b", "application/gzip"),
)
_ZIPPED = b"PK\x03\x04"
_TEXT = "text/plain"
_UNKNOWN = "application/octet-stream"
# what names say differs from system to system: these are the ones that people attach
_BY_NAME = {".md": "text/markdown", ".yaml": "application/yaml", ".yml": "application/yaml", ".log": _TEXT}
_TEXTS = ("text/", "application/json", "application/xml", "application/javascript", "application/yaml")
_OFFICE = ("application/vnd.openxmlformats-officedocument.", "application/vnd.oasis.opendocument.")


def media_type(head: bytes, name: str) -> str:
    """The media type of a file.

    Args:
        head: Its first bytes, up to `HEAD_BYTES`.
        name: Its name; says which kind of text a text is, and which kind of document a ZIP file.
    """
    begun = next((mime for beginning, mime in _BEGINNINGS if head.startswith(beginning)), None)
    if begun is not None:
        return begun
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "image/webp"
    if head[:1024].lstrip().startswith(b"%PDF-"):
        return "application/pdf"
    named = _type_by_name(name)
    if head.startswith(_ZIPPED):
        return named if named.startswith(_OFFICE) else "application/zip"
    return _text_type(head, named if named.startswith(_TEXTS) or named.endswith(("+xml", "+json")) else "")


def _text_type(head: bytes, named: str) -> str:
    if is_text(head):
        return named or _TEXT
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return f"{named or _TEXT}; charset=utf-16"
    # any bytes are letters in some encoding: only what is called a text is taken for one
    encoding = guess_encoding(head) if named and b"\0" not in head else None
    return _UNKNOWN if encoding is None else f"{named}; charset={encoding}"


def is_text(head: bytes) -> bool:
    """Whether a file begins as text in UTF-8 does."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return b"\0" not in head


def _type_by_name(name: str) -> str:
    ending = f".{name.rpartition('.')[2].lower()}"
    return _BY_NAME.get(ending) or mimetypes.guess_type(f"file{ending}", strict=True)[0] or ""
