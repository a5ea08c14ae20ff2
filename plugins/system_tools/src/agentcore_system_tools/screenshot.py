"""`Screenshot`: an image of the screen, with functions that crop it and scale it down to the size limit."""

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentcore.api import BaseModel, Field, ToolError, known_to_models

if TYPE_CHECKING:
    from PIL.Image import Image

IMAGE_BYTES = 8 * 1024 * 1024
"""Maximum size of one image in a result."""

_SHRINK = 0.7
_LEAST_PIXELS = 64


_PIXELS_LIMIT = 1_000_000  # no screen is larger


class Region(BaseModel, defer_build=True, extra="forbid", json_schema_extra=known_to_models()):
    """A part of a display, or of the whole screen, in pixels from its upper left corner."""

    x: int = Field(ge=0, le=_PIXELS_LIMIT, description="Pixels from the left.", json_schema_extra=known_to_models())
    y: int = Field(ge=0, le=_PIXELS_LIMIT, description="Pixels from the top.", json_schema_extra=known_to_models())
    width: int = Field(ge=1, le=_PIXELS_LIMIT, description="Width in pixels.", json_schema_extra=known_to_models())
    height: int = Field(ge=1, le=_PIXELS_LIMIT, description="Height in pixels.", json_schema_extra=known_to_models())


@dataclass(frozen=True, slots=True)
class ScreenshotOptions:
    """The part of the screen that a screenshot shows.

    Args:
        display: Number of a display, counted from 1; None for all displays (on macOS: the main one).
        region: A part of it; None for all of it.
    """

    display: int | None = None
    region: Region | None = None


@dataclass(frozen=True, slots=True)
class Screenshot:
    """An image as PNG.

    Args:
        png: The content of the PNG file.
        width: Width in pixels.
        height: Height in pixels.
    """

    png: bytes
    width: int
    height: int


def create_screenshot(size: tuple[int, int], bgrx: bytes) -> Screenshot:
    """Create a screenshot from raw BGRX pixels, four bytes each."""
    from PIL import Image as Pictures  # noqa: PLC0415 - a tenth of the time that all modules take to load

    return _encode_png(Pictures.frombytes("RGB", size, bgrx, "raw", "BGRX"))


def load_screenshot(content: bytes, region: Region | None) -> Screenshot:
    """Load a PNG of the whole screen, taken by a program of the desktop, and crop it to a region.

    Raises:
        ToolError: `screenshot_failed` if it is not a valid PNG; `region_outside`.
    """
    from PIL import Image as Pictures  # noqa: PLC0415 - as above

    try:
        image = Pictures.open(io.BytesIO(content), formats=("PNG",))
        image.load()
    except (OSError, ValueError, SyntaxError, Pictures.DecompressionBombError) as exc:
        raise ToolError(
            "screenshot_failed", "The desktop gave no picture that can be read; try again.", retryable=True
        ) from exc
    if region is None:
        return Screenshot(content, image.width, image.height)
    check_region(region, image.width, image.height)
    return _encode_png(image.crop((region.x, region.y, region.x + region.width, region.y + region.height)))


def check_region(region: Region, width: int, height: int) -> None:
    """Check that a region is completely on the display.

    Raises:
        ToolError: `region_outside`.
    """
    if region.x + region.width > width or region.y + region.height > height:
        message = (
            f"The region {region.width}×{region.height} at ({region.x}, {region.y}) is not all on the display, "
            f"which has {width}×{height} pixels."
        )
        raise ToolError("region_outside", message, width=width, height=height)


def fit_size(shot: Screenshot, limit_bytes: int = IMAGE_BYTES) -> Screenshot:
    """Return the screenshot, scaled down if it exceeds a size limit."""
    from PIL import Image as Pictures  # noqa: PLC0415 - as above

    small = shot
    image = None
    while len(small.png) > limit_bytes and min(small.width, small.height) > _LEAST_PIXELS:
        image = image or Pictures.open(io.BytesIO(shot.png)).convert("RGB")
        size = (round(small.width * _SHRINK), round(small.height * _SHRINK))
        small = _encode_png(image.resize(size, Pictures.Resampling.LANCZOS))
    return small


def _encode_png(picture: "Image") -> Screenshot:
    file = io.BytesIO()
    # Level 1 takes a fifth of the time of the default 6, for files that are 10 % larger.
    picture.save(file, "PNG", compress_level=1)
    return Screenshot(file.getvalue(), picture.width, picture.height)
