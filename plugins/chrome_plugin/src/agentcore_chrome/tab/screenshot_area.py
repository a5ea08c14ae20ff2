"""Screenshots with the part of the page that they show, so that coordinates read off them can be used."""

from dataclasses import dataclass
from typing import Any

_PNG = b"\x89PNG"
_PNG_SIZE = slice(16, 24)
_JPEG_MARKER = 0xFF
_JPEG_SIZES = frozenset((0xC0, 0xC1, 0xC2, 0xC3))
"""Start-of-frame markers of the JPEG variants that browsers write; the size follows them."""


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle of the document, in CSS pixels from its top left corner."""

    x: float
    y: float
    width: float
    height: float

    def to_json(self) -> dict[str, float]:
        """Return the rectangle as JSON, rounded to what can be pointed at."""
        return {name: round(getattr(self, name), 2) for name in ("x", "y", "width", "height")}


@dataclass(frozen=True, slots=True)
class Picture:
    """A screenshot.

    Args:
        data: The image file.
        mime: Its media type.
        area: The part of the document that it shows.
        is_window: True if it shows the visible part of the page, whatever that is scrolled to.
        document: The mark of the document that it shows.
    """

    data: bytes
    mime: str
    area: Area
    is_window: bool
    document: str

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels of the image."""
        return read_image_size(self.data)

    @property
    def scale(self) -> float:
        """Pixels of the image for each CSS pixel of the page."""
        return self.size[0] / self.area.width if self.area.width else 1.0

    def to_json(self) -> dict[str, Any]:
        """Return size, scale and area as JSON."""
        width, height = self.size
        return {"width": width, "height": height, "scale": round(self.scale, 4), "area": self.area.to_json()}

    def describe(self) -> str:
        """Return the sentence that tells a model how to point at what it sees."""
        width, height = self.size
        shown = "the window" if self.is_window else "a part of the page"
        scale = round(self.scale, 3)
        size = "in its own size" if scale == 1 else f"at {scale:g} of its size"
        return f"The picture shown is {width} × {height} pixels, {shown} {size}; x and y of clicks are its pixels."


def read_image_size(data: bytes) -> tuple[int, int]:
    """Return width and height of a PNG or JPEG image.

    Source: https://www.w3.org/TR/png-3/#11IHDR and https://www.w3.org/Graphics/JPEG/itu-t81.pdf (B.2.2)
    """
    if data.startswith(_PNG):
        size = data[_PNG_SIZE]
        return int.from_bytes(size[:4]), int.from_bytes(size[4:])
    at = 2
    while at + 9 <= len(data) and data[at] == _JPEG_MARKER:
        if data[at + 1] in _JPEG_SIZES:
            return int.from_bytes(data[at + 7 : at + 9]), int.from_bytes(data[at + 5 : at + 7])
        at += 2 + int.from_bytes(data[at + 2 : at + 4])
    return 0, 0
