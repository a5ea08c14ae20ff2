"""`Screenshot`: a picture of the screen, cut to what was asked for, and made small enough to be given."""

import io
from dataclasses import dataclass

from PIL import Image as Pictures

from agentcore.api import BaseModel, Field, ToolError, known_to_models

IMAGE_BYTES = 8 * 1024 * 1024
"""What one picture in a result may have."""

_SHRINK = 0.7
_LEAST_PIXELS = 64


_PIXELS_LIMIT = 1_000_000  # no screen is larger


class Region(BaseModel, extra="forbid", json_schema_extra=known_to_models()):
    """A part of a display, or of the whole screen, in pixels from its upper left corner."""

    x: int = Field(ge=0, le=_PIXELS_LIMIT, description="Pixels from the left.", json_schema_extra=known_to_models())
    y: int = Field(ge=0, le=_PIXELS_LIMIT, description="Pixels from the top.", json_schema_extra=known_to_models())
    width: int = Field(ge=1, le=_PIXELS_LIMIT, description="Width in pixels.", json_schema_extra=known_to_models())
    height: int = Field(ge=1, le=_PIXELS_LIMIT, description="Height in pixels.", json_schema_extra=known_to_models())


@dataclass(frozen=True, slots=True)
class ScreenshotOptions:
    """What a screenshot shows.

    Args:
        display: Number of a display, counted from 1; None: all of them together.
        region: A part of it; None: all.
    """

    display: int | None = None
    region: Region | None = None


@dataclass(frozen=True, slots=True)
class Screenshot:
    """A picture as PNG.

    Args:
        png: The file.
        width: In pixels.
        height: In pixels.
    """

    png: bytes
    width: int
    height: int


def create_screenshot(size: tuple[int, int], bgrx: bytes) -> Screenshot:
    """A picture from the rows of a screen, four bytes a pixel."""
    return _encode_png(Pictures.frombytes("RGB", size, bgrx, "raw", "BGRX"))


def load_screenshot(content: bytes, region: Region | None) -> Screenshot:
    """A picture from one that a program of the desktop took of everything, cut to a region.

    Raises:
        ToolError: `screenshot_failed`: it is no picture; `region_outside`.
    """
    try:
        picture = Pictures.open(io.BytesIO(content), formats=("PNG",))
        picture.load()
    except (OSError, ValueError, SyntaxError, Pictures.DecompressionBombError) as exc:
        raise ToolError(
            "screenshot_failed", "The desktop gave no picture that can be read; try again.", retryable=True
        ) from exc
    if region is None:
        return Screenshot(content, picture.width, picture.height)
    check_region(region, picture.width, picture.height)
    return _encode_png(picture.crop((region.x, region.y, region.x + region.width, region.y + region.height)))


def check_region(region: Region, width: int, height: int) -> None:
    """Refuse a region that is not all on the display.

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
    """The picture itself, or a smaller one that fits a bound."""
    small = shot
    picture = None
    while len(small.png) > limit_bytes and min(small.width, small.height) > _LEAST_PIXELS:
        picture = picture or Pictures.open(io.BytesIO(shot.png)).convert("RGB")
        size = (round(small.width * _SHRINK), round(small.height * _SHRINK))
        small = _encode_png(picture.resize(size, Pictures.Resampling.LANCZOS))
    return small


def _encode_png(picture: Pictures.Image) -> Screenshot:
    file = io.BytesIO()
    # level 1 takes a fifth of the time of the usual 6 for pictures that are a tenth larger
    picture.save(file, "PNG", compress_level=1)
    return Screenshot(file.getvalue(), picture.width, picture.height)
