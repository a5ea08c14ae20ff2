"""Points that a caller names: pixels of the screenshot that a model was shown, or of the window."""

from dataclasses import dataclass

from agentcore.api import ToolContext, ToolError
from agentcore_chrome.tab.screenshot_area import Picture
from agentcore_chrome.tab.tab import Tab


@dataclass(frozen=True, slots=True)
class Point:
    """A point of the window.

    Args:
        x: CSS pixels from the left.
        y: CSS pixels from the top.
        description: The point as the caller named it.
    """

    x: float
    y: float
    description: str


def find_shown_picture(ctx: ToolContext, tab: Tab) -> Picture | None:
    """Return the picture whose pixels a caller names; None: it names those of the window.

    Only a model reads coordinates off a picture. Programs compute them from the page; a user points at the live view.
    """
    return None if ctx.model_chars is None else tab.shown_picture


async def locate_point(tab: Tab, picture: Picture | None, x: float, y: float) -> Point:
    """Return the point of the window that is meant; a part of the page that is out of view is scrolled into view.

    Raises:
        ToolError: `invalid_arguments`: the picture has no such pixel; `stale_picture`: it shows another document.
    """
    if picture is None:
        return Point(x, y, f"{x:g}, {y:g}")
    width, height = picture.size
    if x > width or y > height:
        message = f"the last screenshot is {width} × {height} pixels, so {x:g}, {y:g} is outside of it"
        raise ToolError("invalid_arguments", message, width=width, height=height)
    if picture.is_window:
        return _describe_point(x, y, x / picture.scale, y / picture.scale)
    document = (await tab.refs.read_window(tab.page)).document
    if document != picture.document:
        raise ToolError(
            "stale_picture",
            "the last screenshot shows a part of a page that is no longer there; take a new one, or use a reference",
            url=tab.page.url,
        )
    left = picture.area.x + x / picture.scale
    top = picture.area.y + y / picture.scale
    window = await tab.refs.read_window(tab.page, (left, top))
    return _describe_point(x, y, left - window.x, top - window.y)


def _describe_point(x: float, y: float, left: float, top: float) -> Point:
    if (round(x), round(y)) == (round(left), round(top)):
        return Point(left, top, f"{x:g}, {y:g}")
    return Point(left, top, f"{x:g}, {y:g} of the picture ({left:.0f}, {top:.0f} in the window)")
