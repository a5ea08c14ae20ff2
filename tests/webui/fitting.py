"""What does not fit into the window of a page, and what moves where nothing should."""

from pathlib import Path

from playwright.async_api import Page

ZOOMED = {"viewport": {"width": 640, "height": 400}, "device_scale_factor": 2}
"""A window of 1280 × 800 at 200 %."""

_SCRIPT = Path(__file__).with_suffix(".js").read_text()


async def misfits(page: Page) -> list[str]:
    """Controls and headings that are cut off and that no scrolling reaches; and a document wider than its window."""
    found: list[str] = await page.evaluate(f"({_SCRIPT})().misfits()")
    return found


async def motions(page: Page) -> list[str]:
    """What moves, or would."""
    found: list[str] = await page.evaluate(f"({_SCRIPT})().motions()")
    return found
