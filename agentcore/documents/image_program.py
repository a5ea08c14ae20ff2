"""`python -m agentcore.documents.image_program LIMIT`: checks an image and downscales it if needed for a model.

An untrusted image of a few bytes can decode to gigabytes of pixels; in this process that affects nothing else. Reads
the image from stdin; writes a line of JSON, `{"width", "height", "mime", "is_smaller"}` or `{"problem"}`, followed by
the bytes of a downscaled image if the original has more than LIMIT bytes or longer edges than providers accept.
"""

import io
import json
import resource
import struct
import sys

from PIL import Image, ImageOps

MEMORY_BYTES = 2 << 30
PIXELS = 100_000_000
EDGE_PIXELS = 8_000
"""Maximum edge length accepted by providers (https://docs.anthropic.com/en/docs/vision)."""

_FORMATS = ("PNG", "JPEG", "GIF", "WEBP")
_FIRST_EDGE = 4_000
_LEAST_EDGE = 64
_SHRINK = 0.75
_QUALITY = 85


def main() -> None:
    """Check the image from stdin and write the result to stdout."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    Image.MAX_IMAGE_PIXELS = PIXELS // 2  # Pillow raises an error at twice this number
    body = sys.stdin.buffer.read()
    try:
        _fit_image(body, int(sys.argv[1]))
    except (Image.DecompressionBombError, MemoryError):
        _write_line({"problem": "it has too many pixels"})
    except (OSError, ValueError, SyntaxError, ArithmeticError, LookupError, TypeError, AttributeError, struct.error):
        # errors that Pillow raises for malformed files
        _write_line({"problem": "it is damaged"})


def _fit_image(body: bytes, limit_bytes: int) -> None:
    # first the checksums and the end of the file, which decoding skips and providers do not
    Image.open(io.BytesIO(body), formats=_FORMATS).verify()
    image = Image.open(io.BytesIO(body), formats=_FORMATS)
    mime = image.get_format_mimetype() or ""
    image.load()
    if len(body) <= limit_bytes and max(image.size) <= EDGE_PIXELS:
        _write_line({"width": image.width, "height": image.height, "mime": mime})
        return
    smaller, body = _shrink_image(image, limit_bytes)
    _write_line(
        {"width": smaller.width, "height": smaller.height, "mime": f"image/{smaller.format}", "is_smaller": True}
    )
    sys.stdout.buffer.write(body)
    sys.stdout.buffer.flush()


def _shrink_image(picture: Image.Image, limit_bytes: int) -> tuple[Image.Image, bytes]:
    has_alpha = picture.has_transparency_data
    picture = ImageOps.exif_transpose(picture).convert("RGBA" if has_alpha else "RGB")
    edge = min(_FIRST_EDGE, max(picture.size))
    while True:
        picture.thumbnail((edge, edge))
        encoded = io.BytesIO()
        picture.save(encoded, "png" if has_alpha else "jpeg", quality=_QUALITY)
        if encoded.tell() <= limit_bytes or edge <= _LEAST_EDGE:
            picture.format = "png" if has_alpha else "jpeg"
            return picture, encoded.getvalue()
        edge = int(edge * _SHRINK)


def _write_line(line: object) -> None:
    sys.stdout.write(f"{json.dumps(line)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
