"""Media type detection from the first bytes of a file; its name only refines the type where that is harmless."""

import codecs
import mimetypes

from agentcore.files.encoding_detection import guess_encoding

HEAD_BYTES = 8192
"""Number of bytes that are inspected."""

PICTURES = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp"))
"""Images accepted by providers; any other in a session would make all of its later requests fail."""

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
# the standard table differs between systems: these are types that users often attach
_BY_NAME = {".md": "text/markdown", ".yaml": "application/yaml", ".yml": "application/yaml", ".log": _TEXT}
_TEXTS = ("text/", "application/json", "application/xml", "application/javascript", "application/yaml")
_OFFICE = ("application/vnd.openxmlformats-officedocument.", "application/vnd.oasis.opendocument.")
_DOCUMENTS = (*_OFFICE, "application/epub+zip")


def media_type(head: bytes, name: str) -> str:
    """Return the media type of a file.

    Args:
        head: Its first bytes, up to `HEAD_BYTES`.
        name: Its name, which determines the kind of a text and the kind of document of a ZIP file.
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
        return named if named.startswith(_DOCUMENTS) else "application/zip"
    return _text_type(head, named if named.startswith(_TEXTS) or named.endswith(("+xml", "+json")) else "")


def _text_type(head: bytes, named: str) -> str:
    if is_text(head):
        return named or _TEXT
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return f"{named or _TEXT}; charset=utf-16"
    # almost any bytes decode in some encoding: only files named as text are treated as such
    encoding = guess_encoding(head) if named and b"\0" not in head else None
    return _UNKNOWN if encoding is None else f"{named}; charset={encoding}"


def is_text(head: bytes) -> bool:
    """Return True if a file starts with valid UTF-8 text."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return b"\0" not in head


def _type_by_name(name: str) -> str:
    ending = f".{name.rpartition('.')[2].lower()}"
    return _BY_NAME.get(ending) or mimetypes.guess_type(f"file{ending}", strict=True)[0] or ""
