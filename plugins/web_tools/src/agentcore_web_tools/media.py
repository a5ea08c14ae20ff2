"""Detects the kind of a body from its first bytes and its Content-Type header."""

from typing import Literal

Media = Literal["html", "text", "image", "pdf", "binary"]

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


def detect_media(body: bytes, content_type: str) -> tuple[Media, str]:
    """Detect the kind of a body and its media type.

    Images, PDFs and binary data are detected from the first bytes, because servers are often wrong about these.

    Args:
        body: The decompressed body; its start is enough.
        content_type: The header, or empty.
    """
    mime = content_type.partition(";")[0].strip().lower()
    picture = _detect_image(body)
    if picture:
        return "image", picture
    if body[:_HEAD_BYTES].lstrip()[:5] == b"%PDF-":
        return "pdf", "application/pdf"
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
