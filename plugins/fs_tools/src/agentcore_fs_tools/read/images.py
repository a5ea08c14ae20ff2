"""Detect images that a model can view."""

IMAGE_LIMIT_BYTES = 8 << 20
"""Larger images are refused."""

_BEGINNINGS = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"))


def image_type(head: bytes) -> str | None:
    """Return the media type of a PNG, JPEG, GIF or WebP by its first bytes; None for anything else."""
    for beginning, mime in _BEGINNINGS:
        if head.startswith(beginning):
            return mime
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "image/webp"
    return None
