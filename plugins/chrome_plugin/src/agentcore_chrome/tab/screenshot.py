"""Screenshots of pages and elements, and their previews."""

from base64 import b64decode
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from agentcore.api import ToolError
from agentcore_chrome.failures import extract_headline, is_driver_error, is_driver_timeout
from agentcore_chrome.tab.elements import Target, locate_element, read_element
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

_QUALITY = 80
_PREVIEW_QUALITY = 60
_PREVIEW_SECONDS = 3.0
_PREVIEW_HEIGHTS = 2
"""Maximum ratio of height to width: a preview of a whole long page would be too small to read."""
_RATIO_MAX = 4.0


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


async def take_screenshot(tab: Tab, options: ScreenshotOptions) -> bytes:
    """Take a screenshot of a page or an element.

    Raises:
        ToolError: `element_not_found`, `element_not_actionable`, `stale_ref`, `screenshot_failed`, `result_too_large`.
    """
    quality = _QUALITY if options.format == "jpeg" else None
    if options.target is not None:

        async def of_element(locator: "Locator") -> bytes:
            return await locator.screenshot(type=options.format, quality=quality, timeout=options.timeout_ms)

        picture = await read_element(tab, options.target, options.timeout_ms, of_element, must_be_seen=True)
    else:
        picture = await _capture_page(tab, options, quality)
    if len(picture) > IMAGE_BYTES:
        raise ToolError(
            "result_too_large",
            f"the picture has {len(picture):,} bytes, and {IMAGE_BYTES:,} are the limit; "
            "take format jpeg, one element, or without the whole page",
            size_bytes=len(picture),
            limit_bytes=IMAGE_BYTES,
        )
    return picture


async def take_preview(tab: Tab, options: ScreenshotOptions) -> bytes | None:
    """Return a small JPEG of what a screenshot shows, scaled by the browser; None: there was none in time."""
    return await tab.run_or_default(lambda: _draw_small(tab, options), None, _PREVIEW_SECONDS)


async def _draw_small(tab: Tab, options: ScreenshotOptions) -> bytes:
    """Capture a preview over CDP.

    Source: https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-captureScreenshot
    """
    session = await tab.get_session()
    metrics = await session.send("Page.getLayoutMetrics")
    view = metrics["cssVisualViewport"]
    content = metrics["cssContentSize"]
    area: dict[str, Any] = {
        "x": view["pageX"], "y": view["pageY"], "width": view["clientWidth"], "height": view["clientHeight"],
    }  # fmt: skip
    if options.target is not None:
        box = await (await locate_element(tab, options.target, must_be_seen=True)).bounding_box()
        assert box is not None  # noqa: S101 - it has just been photographed; else there is no preview
        area = {**box, "x": box["x"] + area["x"], "y": box["y"] + area["y"]}
    elif options.full_page:
        area = {"x": 0, "y": 0, "width": content["width"], "height": content["height"]}
    area["height"] = min(area["height"], area["width"] * _PREVIEW_HEIGHTS)
    answer = await session.send("Runtime.evaluate", {"expression": "devicePixelRatio", "returnByValue": True})
    ratio = min(max(float(answer["result"]["value"]), 1.0), _RATIO_MAX)
    scale = min(1.0, PREVIEW_PIXELS / max(area["width"], area["height"]) / ratio)
    drawn = await session.send(
        "Page.captureScreenshot",
        {
            "format": "jpeg",
            "quality": _PREVIEW_QUALITY,
            "clip": {**area, "scale": scale},
            "captureBeyondViewport": options.full_page or options.target is not None,
        },
    )
    return b64decode(drawn["data"])


async def _capture_page(tab: Tab, options: ScreenshotOptions, quality: int | None) -> bytes:
    first_ms = min(_FONTS_MS, options.timeout_ms // 2)
    try:
        return await tab.run_action(
            lambda: tab.page.screenshot(
                full_page=options.full_page, type=options.format, quality=quality, timeout=first_ms
            ),
            first_ms,
        )
    except Exception as exc:
        if not is_driver_error(exc) and not is_driver_timeout(exc):
            raise
        if not is_driver_timeout(exc):
            raise _not_taken(tab, extract_headline(exc)) from exc
    # the driver waits for fonts, whose servers may never answer
    return await _capture_directly(tab, options, quality)


async def _capture_directly(tab: Tab, options: ScreenshotOptions, quality: int | None) -> bytes:
    """Capture the page as it is now, without waiting for anything."""

    async def capture() -> bytes:
        session = await tab.get_session()
        clip: dict[str, Any] = {}
        if options.full_page:
            content = (await session.send("Page.getLayoutMetrics"))["cssContentSize"]
            clip = {"clip": {"x": 0, "y": 0, "width": content["width"], "height": content["height"], "scale": 1}}
        of_jpeg = {} if quality is None else {"quality": quality}
        drawn = await session.send(
            "Page.captureScreenshot",
            {"format": options.format, "captureBeyondViewport": options.full_page, **clip, **of_jpeg},
        )
        return b64decode(drawn["data"])

    left_ms = options.timeout_ms - min(_FONTS_MS, options.timeout_ms // 2)
    try:
        return await tab.run_action(capture, left_ms)
    except Exception as exc:
        if not is_driver_error(exc) and not is_driver_timeout(exc):
            raise
        reason = f"not within {options.timeout_ms} ms" if is_driver_timeout(exc) else extract_headline(exc)
        raise _not_taken(tab, reason) from exc


def _not_taken(tab: Tab, reason: str) -> ToolError:
    return ToolError(
        "screenshot_failed", f"no picture of the page could be taken: {reason}", retryable=True, tabId=tab.tab_id
    )
