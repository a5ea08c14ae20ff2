"""Types of the tools' structured results."""

from typing import NotRequired, TypedDict


class ScreenshotResult(TypedDict):
    """The size of a picture in pixels and bytes, and where it was saved, if it was."""

    width: int
    height: int
    size_bytes: int
    path: NotRequired[str]


class ShownFile(TypedDict):
    """What was shown in which folder, and by what."""

    path: str
    folder: str
    shown_by: str
