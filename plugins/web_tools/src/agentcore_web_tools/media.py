"""Detects the kind of a body from its first bytes and its Content-Type header."""

from typing import Literal

from agentcore.api import DocumentKind, detect_document

Media = Literal["html", "text", "image", "document", "binary"]

_PICTURES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}
_TEXT_TYPES = (
    "application/json",
    "application/xml",
    "application/javascript",
    "application/x-ndjson",
    "application/yaml",
)
_TEXT_SUFFIXES = ("+json", "+xml", "javascript", "yaml", "toml", "x-sh", "sql", "graphql")
_HEAD_BYTES = 1_024


def detect_media(body: bytes, content_type: str, name: str = "") -> tuple[Media, str]:
    """Detect the kind of a body and its media type.

    Images, documents and binary data are detected from the first bytes, because servers are often wrong about these.

    Args:
        body: The decompressed body; its start is enough.
        content_type: The header, or empty.
        name: The name of the file, which matters for notebooks alone.
    """
    mime = content_type.partition(";")[0].strip().lower()
    image = _detect_image(body)
    if image:
        return "image", image
    document = detect_document(body, name)
    if document is not None:
        return "document", "application/pdf" if document is DocumentKind.PDF else mime or "application/octet-stream"
    if mime in ("text/html", "application/xhtml+xml"):
        return "html", mime
    if mime.startswith("text/") or mime in _TEXT_TYPES or mime.endswith(_TEXT_SUFFIXES):
        return "text", mime
    if _is_binary(body[:_HEAD_BYTES]) or mime.startswith(("image/", "audio/", "video/", "font/")):
        return "binary", mime or "application/octet-stream"
    return ("html", "text/html") if _is_html(body[:_HEAD_BYTES]) else ("text", mime or "text/plain")


def _detect_image(body: bytes) -> str:
    if body[:4] == b"RIFF" and body[8:12] == b"WEBP":
        return "image/webp"
    return next((mime for mark, mime in _PICTURES.items() if body.startswith(mark)), "")


def _is_binary(head: bytes) -> bool:
    return b"\0" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff"))


def _is_html(head: bytes) -> bool:
    start = head.lstrip()[:15].lower()
    return start.startswith((b"<!doctype html", b"<html", b"<head", b"<body"))
