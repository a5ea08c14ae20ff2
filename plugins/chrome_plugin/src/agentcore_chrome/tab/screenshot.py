"""Screenshots."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from agentcore.api import ToolError
from agentcore_chrome.failures import headline, is_driver_error, is_driver_timeout
from agentcore_chrome.tab.elements import Target, on_element
from agentcore_chrome.tab.tab import Tab

if TYPE_CHECKING:
    from playwright.async_api import Locator

Format = Literal["png", "jpeg"]

IMAGE_BYTES = 8 * 1024 * 1024
"""Bound of a picture that stands in a result."""

_QUALITY = 80


@dataclass(frozen=True, slots=True)
class ScreenshotOptions:
    """What a screenshot shows.

    Args:
        target: One element; None: the page.
        full_page: All of the page, not what fits the window.
        format: Its encoding.
        timeout_ms: Limit.
    """

    target: Target | None = None
    full_page: bool = False
    format: Format = "png"
    timeout_ms: int = 30_000

    @property
    def mime(self) -> str:
        """Its media type."""
        return f"image/{self.format}"


async def take_screenshot(tab: Tab, options: ScreenshotOptions) -> bytes:
    """Take a picture of a page or an element.

    Raises:
        ToolError: `element_not_found`, `element_not_actionable`, `stale_ref`, `screenshot_failed`, `result_too_large`.
    """
    quality = _QUALITY if options.format == "jpeg" else None
    if options.target is not None:

        async def of_element(locator: "Locator") -> bytes:
            return await locator.screenshot(type=options.format, quality=quality, timeout=options.timeout_ms)

        picture = await on_element(tab, options.target, options.timeout_ms, of_element)
    else:
        picture = await _of_page(tab, options, quality)
    if len(picture) > IMAGE_BYTES:
        raise ToolError(
            "result_too_large",
            f"the picture has {len(picture):,} bytes, and {IMAGE_BYTES:,} are the limit; "
            "take format jpeg, one element, or without the whole page",
            size_bytes=len(picture),
            limit_bytes=IMAGE_BYTES,
        )
    return picture


async def _of_page(tab: Tab, options: ScreenshotOptions, quality: int | None) -> bytes:
    try:
        return await tab.act(
            lambda: tab.page.screenshot(
                full_page=options.full_page, type=options.format, quality=quality, timeout=options.timeout_ms
            ),
            options.timeout_ms,
        )
    except Exception as exc:
        if not is_driver_error(exc) and not is_driver_timeout(exc):
            raise
        reason = f"not within {options.timeout_ms} ms" if is_driver_timeout(exc) else headline(exc)
        raise ToolError(
            "screenshot_failed", f"no picture of the page could be taken: {reason}", retryable=True, tabId=tab.tab_id
        ) from exc
