"""Screenshots of pages and elements, and the reduced ones that models see."""

import math
from base64 import b64decode
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from agentcore.api import ToolError
from agentcore_chrome.call_limit import work_ms
from agentcore_chrome.failures import extract_headline, find_blocking_reason, is_driver_error, is_driver_timeout
from agentcore_chrome.tab.elements import Target, locate_element, read_element
from agentcore_chrome.tab.refs import Window
from agentcore_chrome.tab.screenshot_area import Area, Picture
from agentcore_chrome.tab.tab import Tab

if TYPE_CHECKING:
    from playwright.async_api import Locator

Format = Literal["png", "jpeg"]

IMAGE_BYTES = 8 * 1024 * 1024
"""Limit of an image in a result."""

_FONTS_MS = 4000
"""How long a screenshot waits for the page's fonts."""

PREVIEW_PIXELS = 800
"""The longest side of the preview that a model gets along with the stored screenshot."""

FULL_PIXELS = 1568
"""The longest side of a screenshot that a model gets in full size; providers reduce larger ones, without saying so.

Source: https://docs.claude.com/en/docs/build-with-claude/vision#evaluate-image-size
"""

_QUALITY = 80
_PREVIEW_QUALITY = 60
_PREVIEW_SECONDS = 3.0
_PREVIEW_HEIGHTS = 2
"""Maximum ratio of height to width: a preview of a whole long page would be too small to read."""


@dataclass(frozen=True, slots=True)
class ScreenshotOptions:
    """What a screenshot shows.

    Args:
        target: One element; None: the page.
        full_page: The whole page, not only what fits the window.
        format: The image format.
        timeout_ms: Limit.
    """

    target: Target | None = None
    full_page: bool = False
    format: Format = "png"
    timeout_ms: int = 30_000

    @property
    def mime(self) -> str:
        """The media type."""
        return f"image/{self.format}"

    @property
    def quality(self) -> int | None:
        """The quality of a JPEG."""
        return _QUALITY if self.format == "jpeg" else None

    @property
    def is_window(self) -> bool:
        """True if it shows what is in view."""
        return self.target is None and not self.full_page


async def take_screenshot(tab: Tab, options: ScreenshotOptions) -> Picture:
    """Take a screenshot of a page or an element.

    Raises:
        ToolError: `element_not_found`, `element_not_actionable`, `stale_ref`, `screenshot_failed`, `result_too_large`.
    """
    if options.target is not None:

        async def of_element(locator: "Locator") -> Picture:
            return await _capture_element(tab, locator, options)

        image = await read_element(tab, options.target, options.timeout_ms, of_element, must_be_seen=True)
    else:
        image = await _capture_page(tab, options)
    if len(image.data) > IMAGE_BYTES:
        raise ToolError(
            "result_too_large",
            f"the picture has {len(image.data):,} bytes, and {IMAGE_BYTES:,} are the limit; "
            "take format jpeg, one element, or without the whole page",
            size_bytes=len(image.data),
            limit_bytes=IMAGE_BYTES,
        )
    return image


async def take_preview(tab: Tab, options: ScreenshotOptions) -> Picture | None:
    """Return a small JPEG of what a screenshot shows, scaled by the browser; None: there was none in time."""
    return await tab.run_or_default(lambda: _draw_small(tab, options), None, _PREVIEW_SECONDS)


async def reduce_for_model(tab: Tab, picture: Picture, options: ScreenshotOptions) -> Picture:
    """Return a screenshot in a size that reaches a model as it is; the same one if it is small enough."""
    longest = max(picture.size)
    if longest <= FULL_PIXELS:
        return picture
    scale = picture.scale * FULL_PIXELS / longest

    async def draw() -> Picture:
        return await _draw(tab, picture.area, scale, options, is_window=options.is_window)

    return await tab.run_or_default(draw, picture, _PREVIEW_SECONDS)


async def _draw_small(tab: Tab, options: ScreenshotOptions) -> Picture:
    window = await tab.refs.read_window(tab.page)
    area = Area(window.x, window.y, window.width, window.height)
    if options.target is not None:
        area = await _find_area(tab, await locate_element(tab, options.target, must_be_seen=True), window)
    elif options.full_page:
        area = await _find_page_area(tab)
    area = Area(area.x, area.y, area.width, min(area.height, area.width * _PREVIEW_HEIGHTS))
    scale = min(window.ratio, PREVIEW_PIXELS / max(area.width, area.height))
    jpeg = ScreenshotOptions(options.target, options.full_page, "jpeg")
    return await _draw(tab, area, scale, jpeg, is_window=options.is_window, quality=_PREVIEW_QUALITY)


async def _draw(
    tab: Tab, area: Area, scale: float, options: ScreenshotOptions, *, is_window: bool, quality: int | None = None
) -> Picture:
    """Capture a part of the page over CDP, as it is now, without waiting for anything.

    Source: https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-captureScreenshot

    Args:
        scale: Pixels of the image for each CSS pixel.
    """
    window = await tab.refs.read_window(tab.page)
    of_jpeg = {} if options.quality is None else {"quality": quality or options.quality}
    session = await tab.get_session()
    clip = {"x": area.x, "y": area.y, "width": area.width, "height": area.height, "scale": scale / window.ratio}
    drawn = await session.send(
        "Page.captureScreenshot",
        {"format": options.format, "captureBeyondViewport": not is_window, "clip": clip, **of_jpeg},
    )
    return Picture(b64decode(drawn["data"]), options.mime, area, is_window, window.document)


async def _capture_page(tab: Tab, options: ScreenshotOptions) -> Picture:
    first_ms = min(_FONTS_MS, options.timeout_ms // 2)

    async def capture() -> Picture:
        data = await tab.page.screenshot(
            full_page=options.full_page, type=options.format, quality=options.quality, timeout=first_ms
        )
        return await _describe_picture(tab, data, options)

    try:
        return await tab.run_action(capture, first_ms)
    except Exception as exc:
        if not is_driver_error(exc) and not is_driver_timeout(exc):
            raise
        if not is_driver_timeout(exc):
            raise _not_taken(tab, extract_headline(exc)) from exc
    # the driver waits for fonts, whose servers may never answer
    return await _capture_directly(tab, options)


async def _describe_picture(tab: Tab, data: bytes, options: ScreenshotOptions) -> Picture:
    window = await tab.refs.read_window(tab.page)
    area = Area(window.x, window.y, window.width, window.height)
    if options.full_page:
        area = await _find_page_area(tab)
    return Picture(data, options.mime, area, options.is_window, window.document)


async def _capture_directly(tab: Tab, options: ScreenshotOptions) -> Picture:
    """Capture the page as it is now, without waiting for anything."""

    async def capture() -> Picture:
        window = await tab.refs.read_window(tab.page)
        if options.full_page:
            return await _draw(tab, await _find_page_area(tab), window.ratio, options, is_window=False)
        session = await tab.get_session()
        of_jpeg = {} if options.quality is None else {"quality": options.quality}
        drawn = await session.send("Page.captureScreenshot", {"format": options.format, **of_jpeg})
        area = Area(window.x, window.y, window.width, window.height)
        return Picture(b64decode(drawn["data"]), options.mime, area, True, window.document)

    left_ms = options.timeout_ms - min(_FONTS_MS, options.timeout_ms // 2)
    try:
        return await tab.run_action(capture, left_ms)
    except Exception as exc:
        if not is_driver_error(exc) and not is_driver_timeout(exc):
            raise
        reason = f"not within {options.timeout_ms} ms" if is_driver_timeout(exc) else extract_headline(exc)
        raise _not_taken(tab, reason) from exc


async def _capture_element(tab: Tab, locator: "Locator", options: ScreenshotOptions) -> Picture:
    first_ms = min(_FONTS_MS, options.timeout_ms // 2)
    try:
        data = await locator.screenshot(type=options.format, quality=options.quality, timeout=first_ms)
    except Exception as exc:
        if not is_driver_timeout(exc) or find_blocking_reason(exc) or not await locator.count():
            raise
        # as for a page: the element is there, and the driver waits for fonts
        await locator.scroll_into_view_if_needed(timeout=work_ms(options.timeout_ms - first_ms))
        window = await tab.refs.read_window(tab.page)
        return await _draw(tab, await _find_area(tab, locator, window), window.ratio, options, is_window=False)
    window = await tab.refs.read_window(tab.page)
    return Picture(data, options.mime, await _find_area(tab, locator, window), False, window.document)


async def _find_area(tab: Tab, locator: "Locator", window: Window) -> Area:
    """Return where an element is, in whole pixels, as the driver cuts it out."""
    box = await locator.bounding_box()
    if box is None:
        raise ToolError("screenshot_failed", "the element cannot be seen any more", retryable=True, tabId=tab.tab_id)
    left = math.floor(box["x"] + window.x + 1e-3)
    top = math.floor(box["y"] + window.y + 1e-3)
    right = math.ceil(box["x"] + box["width"] + window.x - 1e-3)
    bottom = math.ceil(box["y"] + box["height"] + window.y - 1e-3)
    return Area(left, top, right - left, bottom - top)


async def _find_page_area(tab: Tab) -> Area:
    content: dict[str, Any] = (await (await tab.get_session()).send("Page.getLayoutMetrics"))["cssContentSize"]
    return Area(0, 0, content["width"], content["height"])


def _not_taken(tab: Tab, reason: str) -> ToolError:
    return ToolError(
        "screenshot_failed", f"no picture of the page could be taken: {reason}", retryable=True, tabId=tab.tab_id
    )
